/**
 * Made-up label words, so that a policy learns to copy any word and not only those of its training tasks. A made-up word
 * follows the letter statistics of known ones (a chain over letter pairs, Shannon 1948, "A Mathematical Theory of
 * Communication", section 3), so it reads like one and falls into the same pieces as an unknown real word would.
 */
import type { Rng } from '../schemas/seed.ts';

/** Where names come from; the same stream of random numbers gives the same names. */
export interface NameSource {
  /** A lower-case word of 3 to 13 letters. */
  readonly word: (rng: Rng) => string;
  /** A label of one to four words; now and then with digits, punctuation or letters of other scripts. `ramp` lowers the share made up. */
  readonly label: (rng: Rng, ramp?: number) => string;
}

export interface NameOptions {
  /** Share of a label's words that are made up; the others are known ones. */
  readonly made_up_share: number;
}

const MIN_LETTERS = 3;
const MAX_LETTERS = 13;
/** What fits on a box of the teacher's: longer labels are drawn again. */
export const MAX_LABEL_CHARACTERS = 26;

/** @param words Known label words, as they are written; at least one of them of letters alone. */
export function createNameSource(words: readonly string[], { made_up_share }: NameOptions): NameSource {
  const chain = new LetterChain(words);
  const word = (rng: Rng): string => chain.word(rng);
  const part = (rng: Rng, ramp: number): string => {
    const isMadeUp = rng.next() < made_up_share * ramp;
    const dressing = pickWeighted(DRESSINGS, rng);
    return isMadeUp ? dressing(capital(word(rng)), rng, word) : rng.pick(words);
  };
  const draw = (rng: Rng, ramp: number): string => {
    const count = pickWeighted(WORD_COUNTS, rng);
    return Array.from({ length: count }, () => part(rng, ramp)).join(' ');
  };
  return {
    word,
    label: (rng, ramp = 1) => {
      for (;;) {
        const label = draw(rng, ramp);
        if (label.length <= MAX_LABEL_CHARACTERS) return label;
      }
    },
  };
}

/** Letters that follow two others in the known words, with repeats; '' ends a word. */
class LetterChain {
  private readonly followers = new Map<string, string[]>();

  constructor(words: readonly string[]) {
    for (const word of words.map((text) => text.toLowerCase()).filter((text) => /^[a-z]+$/.test(text))) {
      const letters = [...Array.from(word), ''];
      letters.forEach((letter, i) => {
        const before = (letters[i - 2] ?? '^') + (letters[i - 1] ?? '^');
        this.followers.set(before, [...(this.followers.get(before) ?? []), letter]);
      });
    }
    if (this.followers.size === 0) throw new Error('there is no word of letters to make up others from');
  }

  word(rng: Rng): string {
    for (;;) {
      const word = this.draw(rng);
      if (word.length >= MIN_LETTERS) return word;
    }
  }

  private draw(rng: Rng): string {
    let word = '';
    while (word.length < MAX_LETTERS) {
      const letter = rng.pick(this.followers.get(`^^${word}`.slice(-2))!);
      if (letter === '') break;
      word += letter;
    }
    return word;
  }
}

/** Items with the share each is drawn with; shares add up to 1. */
type Weighted<T> = readonly (readonly [share: number, item: T])[];

function pickWeighted<T>(items: Weighted<T>, rng: Rng): T {
  let left = rng.next();
  for (const [share, item] of items) {
    left -= share;
    if (left < 0) return item;
  }
  return items.at(-1)![1];
}

const WORD_COUNTS: Weighted<number> = [
  [0.48, 1],
  [0.42, 2],
  [0.08, 3],
  [0.02, 4],
];

export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** What a made-up word may look like. Neither quotes nor ", " and ". ", which end a name in prompts. */
type Dressing = (word: string, rng: Rng, another: (rng: Rng) => string) => string;

const JOINERS = ['-', '_', '/', '.', '&', '+', ':'];

const DRESSINGS: Weighted<Dressing> = [
  [0.74, (word) => word],
  [0.07, (word) => word.toLowerCase()],
  [0.03, (word) => word.slice(0, 4).toUpperCase()],
  [0.03, (word, rng) => word + String(rng.int(0, 99))],
  [0.02, (_word, rng) => String(rng.int(0, 9999))],
  [0.04, (word, rng, another) => word + rng.pick(JOINERS) + another(rng).slice(0, 6)],
  [0.02, (word) => `(${word})`],
  [0.02, (word) => `${word}?`],
  [0.03, (_word, rng) => foreignWord(rng)],
];

/** Letters of other scripts, one string a script; words of CJK are short. */
const SCRIPTS: readonly { letters: string; lengths: readonly [number, number] }[] = [
  { letters: 'абвгдежзийклмнопрстуфхцчшщыьэюя', lengths: [3, 8] },
  { letters: 'αβγδεζηθικλμνξοπρστυφχψω', lengths: [3, 8] },
  { letters: 'aeinorstlcàáäçèéêíñóöúüß', lengths: [3, 8] },
  { letters: '的一是在不了有和人这中大为上个国我以要他时来用们生到作地于出', lengths: [2, 4] },
  { letters: 'アイウエオカキクケコサシスセソタチツテトナニヌネノ', lengths: [2, 5] },
];

function foreignWord(rng: Rng): string {
  const { letters, lengths } = rng.pick(SCRIPTS);
  const all = Array.from(letters);
  return capital(Array.from({ length: rng.int(...lengths) }, () => rng.pick(all)).join(''));
}
