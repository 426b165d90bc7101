/** HTML by hand: a template tag that escapes what is put into it, and the number formats of the report. */
import { toDuration } from '../progress.ts';

/** Markup that is safe to insert as it is. */
export interface Html {
  readonly markup: string;
}

type Part = Html | string | number | readonly Html[] | undefined;

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** What no page can hold: control characters other than tab and line ends, halves of a surrogate pair. */
const UNPRINTABLE = /(?![\t\n\r])\p{Cc}|\p{Surrogate}|[\ufffe\uffff]/gu;

/** Text as it stands in a page; what it cannot hold stands there as its escape, `\u0000`. */
function escapeHtml(text: string): string {
  const printable = text.replace(
    UNPRINTABLE,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return printable.replace(/[&<>"']/g, (character) => ESCAPES[character]!);
}

/** A template whose texts are escaped and whose Html parts are not: html`<p>${text}</p>`. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  const inserted = parts.map((part) => {
    if (part === undefined) return '';
    if (typeof part === 'string' || typeof part === 'number') return escapeHtml(String(part));
    return 'markup' in part ? part.markup : part.map(({ markup }) => markup).join('\n');
  });
  return { markup: strings.map((text, i) => text + (inserted[i] ?? '')).join('') };
}

/** 0.813, -0.020, and a dash for what is not known. */
export function fixed(value: number | null | undefined, digits = 3): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return '–';
  const text = value.toFixed(digits);
  return Number(text) === 0 ? text.replace('-', '') : text.replace('-', '−');
}

/** With its sign: +0.052. */
export function signed(value: number, digits = 3): string {
  const text = fixed(value, digits);
  return value > 0 && Number(text) !== 0 ? `+${text}` : text;
}

/** Three significant digits, for values of any size: 0.00123, 4.56, 1.2e-7. */
export function figure(value: number): string {
  if (value === 0) return '0';
  const size = Math.abs(value);
  const text = size < 1e-4 || size >= 1e6 ? value.toExponential(1) : String(Number(value.toPrecision(3)));
  return text.replace(/^-/, '−');
}

export function percent(share: number): string {
  return `${fixed(100 * share, 1)} %`;
}

/** `8.2 s`, `3 min 20 s`, `2 h 05 min`. */
export function duration(seconds: number): string {
  return seconds < 59.95 ? `${fixed(seconds, 1)} s` : toDuration(seconds);
}

/** `2026-05-30 14:12 UTC`. */
export function time(iso: string): string {
  return `${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC`;
}

const POLICY_NAMES: Readonly<Record<string, string>> = { teacher: 'Teacher', sft: 'SFT', rl: 'RL' };

/** `rl-40` -> `RL-40`, `teacher` -> `Teacher`, `sft greedy` -> `SFT greedy`. */
export function policyName(policy: string): string {
  return policy.replace(/^\w+/, (kind) => POLICY_NAMES[kind] ?? kind);
}
