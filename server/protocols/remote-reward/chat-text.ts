/**
 * Texts that a chat template has been applied to, as trainers send them: where the response begins, what the user said, and
 * the special tokens around either. The templates known are those of ChatML (Qwen), Llama 3 and 4, Gemma, Mistral, Phi,
 * Zephyr, DeepSeek and gpt-oss. Nothing inside a response is changed, only its ends are.
 */

interface Template {
  user: string;
  assistant: string;
  /** What a user's turn ends with. */
  end: string;
}

const TEMPLATES: readonly Template[] = [
  { user: '<|im_start|>user', assistant: '<|im_start|>assistant', end: '<|im_end|>' },
  {
    user: '<|start_header_id|>user<|end_header_id|>',
    assistant: '<|start_header_id|>assistant<|end_header_id|>',
    end: '<|eot_id|>',
  },
  {
    user: '<|header_start|>user<|header_end|>',
    assistant: '<|header_start|>assistant<|header_end|>',
    end: '<|eot|>',
  },
  { user: '<start_of_turn>user', assistant: '<start_of_turn>model', end: '<end_of_turn>' },
  { user: '[INST]', assistant: '[/INST]', end: '[/INST]' },
  { user: '<|user|>', assistant: '<|assistant|>', end: '<|end|>' },
  { user: '<|user|>', assistant: '<|assistant|>', end: '</s>' },
  { user: '<｜User｜>', assistant: '<｜Assistant｜>', end: '<｜Assistant｜>' },
  { user: '<|start|>user<|message|>', assistant: '<|start|>assistant', end: '<|end|>' },
];

/** Tokens that begin, end or pad a text. All begin with `<` or `[`. */
const SPECIAL_TOKENS = [
  '<|im_end|>',
  '<|endoftext|>',
  '<|eot_id|>',
  '<|eom_id|>',
  '<|eot|>',
  '<|begin_of_text|>',
  '<|end_of_text|>',
  '<|finetune_right_pad_id|>',
  '<end_of_turn>',
  '<eos>',
  '<bos>',
  '<pad>',
  '<s>',
  '</s>',
  '<unk>',
  '[PAD]',
  '<|end|>',
  '<|return|>',
  '<|pad|>',
  '<｜begin▁of▁sentence｜>',
  '<｜end▁of▁sentence｜>',
  '<｜▁pad▁｜>',
] as const;

/** Code units of which none is white space: the printable ones of ASCII. */
const isPrintable = (char: string): boolean => char > ' ' && char < '\x7f';

/** Length of the white space or special token at a place of a text; 0 where there is neither. */
function skippableAt(text: string, at: number): number {
  const char = text[at];
  if (char === undefined) return 0;
  if (char !== '<' && char !== '[') return !isPrintable(char) && /\s/.test(char) ? 1 : 0;
  return SPECIAL_TOKENS.find((token) => text.startsWith(token, at))?.length ?? 0;
}

/** A text without white space and special tokens at its ends. */
export function stripSpecialTokens(text: string): string {
  let start = 0;
  for (let size = skippableAt(text, start); size > 0; size = skippableAt(text, start)) start += size;
  let rest = text.slice(start).trimEnd();
  for (;;) {
    const token = SPECIAL_TOKENS.find((name) => rest.endsWith(name));
    if (token === undefined) return rest;
    rest = rest.slice(0, -token.length).trimEnd();
  }
}

/**
 * Where a prompt ends that a text begins with, or -1. White space and special tokens do not count: a prompt that was turned
 * into tokens and back has others than before.
 */
function endOfPrompt(text: string, prompt: string): number {
  let at = 0;
  for (let i = 0; i < prompt.length;) {
    const skipped = skippableAt(prompt, i);
    if (skipped > 0) {
      i += skipped;
      continue;
    }
    for (let size = skippableAt(text, at); size > 0; size = skippableAt(text, at)) at += size;
    if (text[at] !== prompt[i]) return -1;
    at++;
    i++;
  }
  return at;
}

const HEADERS = [...new Set(TEMPLATES.map(({ assistant }) => assistant))];

/** So much of a prompt's end says where it ends, code units: the question and the header of the answer. */
const TAIL_LENGTH = 64;
/** What may be left of a token or a character that a cut went through, at the begin of a text, code units. */
const EDGE_LENGTH = 32;

/** The code units of a text without any white space and special tokens, and where in the text each of them ends. */
function toBare(text: string): { units: Uint16Array; ends: Uint32Array } {
  const units = new Uint16Array(text.length);
  const ends = new Uint32Array(text.length);
  let count = 0;
  for (let i = 0; i < text.length;) {
    const skipped = skippableAt(text, i);
    if (skipped === 0) {
      units[count] = text.charCodeAt(i);
      ends[count++] = i + 1;
    }
    i += skipped || 1;
  }
  return { units: units.subarray(0, count), ends };
}

/** Z function: for each place of a text, how much of the text's begin stands there. Linear in the length. */
function beginsAt(units: Uint16Array): Uint32Array {
  const sizes = new Uint32Array(units.length);
  let [left, right] = [0, 0];
  for (let i = 1; i < units.length; i++) {
    let size = i < right ? Math.min(right - i, sizes[i - left]!) : 0;
    while (i + size < units.length && units[size] === units[i + size]) size++;
    sizes[i] = size;
    if (i + size > right) [left, right] = [i, i + size];
  }
  return sizes;
}

/** How many units of a prompt's end stand right before a place of the prompt itself, and of a text. */
function tailsOf(prompt: Uint16Array, text: Uint16Array) {
  const total = prompt.length + text.length;
  const both = new Uint16Array(total);
  both.set(text);
  both.set(prompt, text.length);
  const sizes = beginsAt(both.reverse()); // backwards, the end of the prompt is a begin
  return {
    ofPrompt: (end: number) => (end === prompt.length ? end : Math.min(end, sizes[prompt.length - end]!)),
    ofText: (end: number) => (end === 0 ? 0 : Math.min(end, prompt.length, sizes[total - end]!)),
  };
}

/**
 * Where a prompt ends that was cut at its left, or that stands inside a turn of the text; -1 where it is not there. Few-shot
 * prompts hold their own end several times. So, in this order: the most of the prompt's end that the text begins with; the
 * first whole prompt; its tail, counted as in the prompt. So a response that repeats the prompt moves its own begin only where
 * the prompt in front of it was changed, and loses what it said before.
 */
function endOfTail(query: string, wholePrompt: string): number {
  const { units: text, ends } = toBare(query);
  const { units: prompt } = toBare(wholePrompt);
  const { ofPrompt, ofText } = tailsOf(prompt, text);
  const least = Math.min(TAIL_LENGTH, prompt.length);
  let [cut, whole, nth] = [0, 0, 0];
  let left = 0;
  for (let end = least; end <= prompt.length; end++) if (ofPrompt(end) >= least) left++;
  for (let end = least; end <= text.length; end++) {
    const size = ofText(end);
    if (size < least) continue;
    if (end - size <= EDGE_LENGTH && size > ofText(cut)) cut = end;
    if (size === prompt.length && whole === 0) whole = end;
    if (--left === 0) nth = end;
  }
  const found = cut || whole || nth;
  return found === 0 ? -1 : ends[found - 1]!;
}

/** A response without the header of its turn, which is there where the prompt came without a template. */
function withoutHeader(response: string): string {
  const header = HEADERS.find((each) => response.startsWith(each));
  return header === undefined ? response : stripSpecialTokens(response.slice(header.length));
}

/**
 * The response in a text that holds prompt and response: what follows the prompt, be that cut at its left or without the
 * tokens of a template. Without a prompt the text is a response as a whole. Undefined where the prompt's end is not there: its
 * own examples must not be taken for an answer.
 */
export function toResponseText(query: string, prompt: string | undefined): string | undefined {
  if (prompt === undefined || prompt === '') return stripSpecialTokens(query);
  if (query.startsWith(prompt)) return stripSpecialTokens(query.slice(prompt.length));
  const found = endOfPrompt(query, prompt);
  const start = found >= 0 ? found : endOfTail(query, prompt);
  return start < 0 ? undefined : withoutHeader(stripSpecialTokens(query.slice(start)));
}

/** What the user said last in a text that a chat template was applied to; any other text without special tokens. */
export function toUserText(prompt: string): string {
  const turns = TEMPLATES.filter(({ user, end }) => prompt.includes(user) && prompt.includes(end));
  const [template] = turns.sort((a, b) => prompt.lastIndexOf(b.user) - prompt.lastIndexOf(a.user));
  if (!template) return stripSpecialTokens(prompt);
  const start = prompt.lastIndexOf(template.user) + template.user.length;
  const end = prompt.indexOf(template.end, start);
  return stripSpecialTokens(prompt.slice(start, end < 0 ? undefined : end));
}
