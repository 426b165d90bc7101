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

const isSpace = (char: string | undefined): boolean => char !== undefined && /\s/.test(char);

/** Length of the white space or special token at a place of a text; 0 where there is neither. */
function skippableAt(text: string, at: number): number {
  const char = text[at];
  if (char !== '<' && char !== '[') return isSpace(char) ? 1 : 0;
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

/** Where a prompt ends that was cut at its left, or that stands inside a turn of the text; -1 where it is not there. */
function endOfTail(text: string, prompt: string): number {
  const tail = stripSpecialTokens(prompt).slice(-TAIL_LENGTH);
  const at = text.indexOf(tail);
  return at < 0 ? -1 : at + tail.length;
}

/** A response without the header of its turn, which is there where the prompt came without a template. */
function withoutHeader(response: string): string {
  const header = HEADERS.find((each) => response.startsWith(each));
  return header === undefined ? response : stripSpecialTokens(response.slice(header.length));
}

/**
 * The response in a text that holds prompt and response: what follows the prompt, be that cut at its left or without the
 * tokens of a template. Without a prompt the text is a response as a whole. Undefined where the prompt's end is not there: its
 * own examples must not be taken for an answer. Nothing is searched behind the prompt, so no response can move its begin.
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
