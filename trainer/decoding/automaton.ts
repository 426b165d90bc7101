/**
 * Regular languages over bytes: parts that are put together (literals, ranges, sequences, choices, repetitions) and a
 * deterministic automaton made from them while it is walked. Thompson 1968, "Regular expression search algorithm": a state
 * is the set of places in the pattern where a text may have led; a set that was met before is the same state.
 *
 * Left out: anything that needs a stack, such as nested brackets of any depth. Every part can be finished from everywhere
 * in it, so no state is a dead end.
 */

/** A pattern under construction: moves by one byte, and moves for free. */
interface Pattern {
  /** By place: bytes first..last lead to place `to`. */
  readonly moves: { readonly first: number; readonly last: number; readonly to: number }[][];
  readonly free: number[][];
  /** Places that `mark` stands at. */
  readonly marked: Set<number>;
}

/** Adds itself to a pattern behind the place `from`; returns the place where it ends. */
export type Part = (pattern: Pattern, from: number) => number;

function addPlace(pattern: Pattern): number {
  pattern.moves.push([]);
  pattern.free.push([]);
  return pattern.moves.length - 1;
}

/** One byte from `first` to `last`. */
export function range(first: number, last = first): Part {
  return (pattern, from) => {
    const to = addPlace(pattern);
    pattern.moves[from]!.push({ first, last, to });
    return to;
  };
}

/** The UTF-8 of a text. */
export function literal(text: string): Part {
  return seq(...Array.from(new TextEncoder().encode(text), (byte) => range(byte)));
}

/** One part after the other. */
export function seq(...parts: readonly Part[]): Part {
  return (pattern, from) => parts.reduce((place, part) => part(pattern, place), from);
}

/** One of the parts. */
export function alt(...parts: readonly Part[]): Part {
  return (pattern, from) => {
    const end = addPlace(pattern);
    for (const part of parts) pattern.free[part(pattern, from)]!.push(end);
    return end;
  };
}

/** The part or nothing. */
export function optional(part: Part): Part {
  return alt(part, seq());
}

/** The part any number of times, also none. */
export function many(part: Part): Part {
  return (pattern, from) => {
    const loop = addPlace(pattern);
    pattern.free[from]!.push(loop);
    pattern.free[part(pattern, loop)]!.push(loop);
    return loop;
  };
}

/** The part from 1 to `most` times. */
export function upTo(most: number, part: Part): Part {
  return most === 1 ? part : seq(part, optional(upTo(most - 1, part)));
}

/** Nothing, but states that hold this place say so. */
export const mark: Part = (pattern, from) => {
  const to = addPlace(pattern);
  pattern.free[from]!.push(to);
  pattern.marked.add(to);
  return to;
};

export interface State {
  /** Places in the pattern, ascending. */
  readonly places: readonly number[];
  /** Whether the text so far is a whole one. */
  readonly isEnd: boolean;
  readonly isMarked: boolean;
  /** By byte; undefined where nobody went yet. */
  readonly next: (State | null | undefined)[];
}

export class Automaton {
  readonly start: State;
  readonly #pattern: Pattern = { moves: [], free: [], marked: new Set() };
  readonly #end: number;
  readonly #states = new Map<string, State>();

  constructor(part: Part) {
    const first = addPlace(this.#pattern);
    this.#end = part(this.#pattern, first);
    this.start = this.#stateOf([first]);
  }

  /** The state that a byte leads to; null where no text of the language goes on so. */
  step(state: State, byte: number): State | null {
    const known = state.next[byte];
    if (known !== undefined) return known;
    const moves = state.places.flatMap((place) => this.#pattern.moves[place]!);
    const places = moves.filter(({ first, last }) => first <= byte && byte <= last).map(({ to }) => to);
    return (state.next[byte] = places.length === 0 ? null : this.#stateOf(places));
  }

  #stateOf(from: readonly number[]): State {
    const all = new Set(from);
    for (const place of all) for (const free of this.#pattern.free[place]!) all.add(free); // grows while it is walked
    const places = [...all].sort((a, b) => a - b);
    const key = places.join();
    const known = this.#states.get(key);
    if (known) return known;
    const isMarked = places.some((place) => this.#pattern.marked.has(place));
    const state = { places, isEnd: all.has(this.#end), isMarked, next: new Array<undefined>(256).fill(undefined) };
    this.#states.set(key, state);
    return state;
  }
}
