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

/** Where the last header of an assistant's turn ends, or -1. */
function endOfHeader(text: string): number {
  const ends = TEMPLATES.map(({ assistant }) => {
    const at = text.lastIndexOf(assistant);
    return at < 0 ? -1 : at + assistant.length;
  });
  return Math.max(...ends);
}

/**
 * The response in a text that holds prompt and response: what follows the prompt, else what follows the last header of an
 * assistant's turn, else, where no prompt was given, the whole text. Undefined where a given prompt cannot be found: the
 * prompt's own examples must not be taken for an answer.
 */
export function toResponseText(query: string, prompt: string | undefined): string | undefined {
  const given = prompt !== undefined && prompt !== '';
  if (given && query.startsWith(prompt)) return stripSpecialTokens(query.slice(prompt.length));
  const end = given ? endOfPrompt(query, prompt) : -1;
  const start = end >= 0 ? end : endOfHeader(query);
  if (start < 0 && given) return undefined;
  return stripSpecialTokens(query.slice(Math.max(start, 0)));
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
