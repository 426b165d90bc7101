/** What each token adds to the text, as bytes: its text in UTF-8, or the one byte that a fallback token stands for. */
import type { Tokenizer } from '../tokenizer.ts';

const BYTE_TOKEN = /^<0x([0-9A-F]{2})>$/;

/**
 * By id; undefined for control tokens. A mark that decoding drops has no bytes.
 * The text of ids is the UTF-8 decoding of their bytes, but for the tokenizer's own escapes (U+E001 and what follows it).
 */
export function tokenBytes(tokenizer: Tokenizer): (Uint8Array | undefined)[] {
  const { model } = tokenizer.json as { model: { vocab: Readonly<Record<string, number>> } };
  const control = new Set([tokenizer.pad_id, tokenizer.bos_id, tokenizer.eos_id]);
  const bytes = new Array<Uint8Array | undefined>(tokenizer.vocab_size).fill(undefined);
  const encoder = new TextEncoder();
  for (const [token, id] of Object.entries(model.vocab)) {
    if (control.has(id)) continue;
    const byte = BYTE_TOKEN.exec(token)?.[1];
    bytes[id] = byte === undefined ? encoder.encode(tokenizer.decode([id])) : Uint8Array.of(parseInt(byte, 16));
  }
  return bytes;
}
