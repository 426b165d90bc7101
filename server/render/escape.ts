/**
 * What may stand in a picture: one function that cleans a label, one that escapes text, one that escapes attributes.
 * The stored canvas is never changed by any of them.
 */

/** Everything that XML 1.0 forbids (https://www.w3.org/TR/xml/#charsets), lone surrogates among it. */
const NOT_XML = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu;

/** Bidirectional embeddings, overrides and isolates: they can hide or reverse what a label says, so pictures drop them. */
const BIDI_CONTROLS = /[\u202A-\u202E\u2066-\u2069]/g;

/** The label as every picture and export shows it: logical order, without bidi controls and characters XML forbids. */
export function cleanLabel(text: string): string {
  return text.replace(NOT_XML, '').replace(BIDI_CONTROLS, '');
}

const TEXT_ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '\r': '&#13;' };

/** Text content of an XML element; a parser gives the same characters back, except those XML forbids. */
export function escapeText(text: string): string {
  return text.replace(NOT_XML, '').replace(/[&<>\r]/g, (character) => TEXT_ESCAPES[character]!);
}

/** Value of a double-quoted XML attribute; tab and newline survive the parser's attribute normalisation. */
export function escapeAttribute(text: string): string {
  return escapeText(text).replace(/["'\t\n]/g, (character) => `&#${character.charCodeAt(0)};`);
}
