/**
 * Reads one JSON value that starts at a given place in a text, character by character and without recursion, and says
 * where and why it stops being JSON (RFC 8259). JSON.parse cannot do that: it wants to know where the value ends.
 *
 * While reading it notes what the extractor asks for: whether the value is an object with an `actions` array (or a list
 * of objects), and where the last complete item of that list ends. It builds no values.
 */
import { MAX_DEPTH } from './limits.ts';

/** Why a text is not JSON. */
export type JsonFault =
  | 'raw_line_break'
  | 'raw_control_character'
  | 'bad_escape'
  | 'bad_number'
  | 'not_finite_literal'
  | 'trailing_comma'
  | 'single_quote'
  | 'key_expected'
  | 'colon_expected'
  | 'comma_expected'
  | 'value_expected';

export interface Reading {
  start: number;
  /** `cut`: the text ends inside the value. */
  status: 'complete' | 'cut' | 'fault' | 'too_deep';
  /** Where reading stopped: behind the value when it is complete, else at the offending character. */
  end: number;
  fault?: JsonFault;
  kind: 'object' | 'list';
  /** The object has a key `actions`; with `complete`, its (last) value is an array. */
  envelope: boolean;
  /** A list that holds objects only, and at least one. */
  objects_only: boolean;
  /** Behind the last complete object in the list of actions, or -1. */
  items_end: number;
}

type Expect = 'value' | 'value_or_end' | 'key' | 'key_or_end' | 'colon' | 'comma_or_end';

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const ACTIONS_KEY = '"actions"';
const LITERALS = ['true', 'false', 'null'];
const NOT_FINITE = ['NaN', 'Infinity', '-Infinity'];

/** Reads the object or list that starts at `start` (where `{` or `[` stands). Linear in what it reads. */
export function readJson(text: string, start: number): Reading {
  return new JsonReader(text, start).read();
}

class JsonReader {
  private readonly text: string;
  private at: number;
  private readonly closers: string[] = [];
  private expect: Expect = 'value';
  private readonly reading: Reading;
  private inActions = false;
  private plainItems = 0;

  constructor(text: string, start: number) {
    this.text = text;
    this.at = start;
    const kind = text[start] === '[' ? 'list' : 'object';
    this.reading = { start, status: 'cut', end: start, kind, envelope: false, objects_only: false, items_end: -1 };
  }

  read(): Reading {
    const { text, reading } = this;
    while (this.isGoing()) {
      const char = text[this.at];
      if (char === undefined) break;
      if (char === ' ' || char === '\n' || char === '\r' || char === '\t') this.at++;
      else this.token(char);
    }
    reading.end = this.at;
    reading.objects_only = reading.kind === 'list' && reading.items_end >= 0 && this.plainItems === 0;
    return reading;
  }

  /** `cut` is the state until something else is known. */
  private isGoing(): boolean {
    return this.reading.status === 'cut' && this.at < this.text.length;
  }

  private token(char: string): void {
    switch (this.expect) {
      case 'value_or_end':
        if (char === ']') this.close();
        else this.value(char);
        return;
      case 'value':
        this.value(char);
        return;
      case 'key_or_end':
        if (char === '}') this.close();
        else this.key(char);
        return;
      case 'key':
        this.key(char);
        return;
      case 'colon':
        if (char === ':') this.step('value');
        else this.stop('colon_expected');
        return;
      case 'comma_or_end':
        this.commaOrEnd(char);
    }
  }

  private step(expect: Expect): void {
    this.at++;
    this.expect = expect;
  }

  private stop(fault: JsonFault): void {
    this.reading.status = 'fault';
    this.reading.fault = fault;
  }

  private commaOrEnd(char: string): void {
    const closer = this.closers.at(-1);
    if (char === closer) this.close();
    else if (char === ',') this.step(closer === '}' ? 'key' : 'value');
    else this.stop('comma_expected');
  }

  private open(char: string): void {
    if (this.closers.length >= MAX_DEPTH) {
      this.reading.status = 'too_deep';
      return;
    }
    this.noteItem(char);
    this.closers.push(char === '{' ? '}' : ']');
    this.step(char === '{' ? 'key_or_end' : 'value_or_end');
  }

  private close(): void {
    const closer = this.closers.pop();
    this.step('comma_or_end');
    const depth = this.closers.length;
    if (depth === 0) this.reading.status = 'complete';
    else if (closer === '}' && depth === this.itemDepth() && this.isInItems()) this.reading.items_end = this.at;
  }

  /** Containers around an item of the action list: the list alone, or the object and the list. */
  private itemDepth(): number {
    return this.reading.kind === 'list' ? 1 : 2;
  }

  private isInItems(): boolean {
    return this.reading.kind === 'list' || this.inActions;
  }

  /** Keeps the notes on `actions` and on the items of a bare list up to date when a value begins. */
  private noteItem(char: string): void {
    const { reading, closers } = this;
    if (closers.length !== 1) return;
    if (reading.kind === 'list' && char !== '{') this.plainItems++;
    if (reading.kind === 'object' && this.inActions) {
      reading.envelope = char === '[';
      reading.items_end = -1;
    }
  }

  private key(char: string): void {
    if (char !== '"') {
      this.stop(char === "'" ? 'single_quote' : char === '}' ? 'trailing_comma' : 'key_expected');
      return;
    }
    const start = this.at;
    if (!this.string()) return;
    this.expect = 'colon';
    if (this.closers.length === 1) {
      this.inActions = this.at - start === ACTIONS_KEY.length && this.text.startsWith(ACTIONS_KEY, start);
      if (this.inActions) this.reading.envelope = true;
    }
  }

  private value(char: string): void {
    if (char === '{' || char === '[') {
      this.open(char);
      return;
    }
    this.noteItem(char);
    if (char === '"') {
      if (this.string()) this.expect = 'comma_or_end';
    } else if (NOT_FINITE.some((word) => this.text.startsWith(word, this.at))) this.stop('not_finite_literal');
    else if (char === '-' || (char >= '0' && char <= '9')) this.number();
    else this.literal(char);
  }

  private number(): void {
    const token = /[-+.\deE]+/y;
    token.lastIndex = this.at;
    const written = token.exec(this.text)?.[0] ?? '';
    const end = this.at + written.length;
    if (end >= this.text.length) this.at = end;
    else if (NUMBER.test(written)) {
      this.at = end;
      this.expect = 'comma_or_end';
    } else this.stop('bad_number');
  }

  private literal(char: string): void {
    const rest = this.text.slice(this.at, this.at + 5);
    const word = LITERALS.find((literal) => rest.startsWith(literal));
    const isCut = this.at + rest.length === this.text.length && LITERALS.some((literal) => literal.startsWith(rest));
    if (word !== undefined) {
      this.at += word.length;
      this.expect = 'comma_or_end';
    } else if (isCut) this.at = this.text.length;
    else if (char === "'") this.stop('single_quote');
    else this.stop(char === ']' || char === '}' ? 'trailing_comma' : 'value_expected');
  }

  /** Reads a string; false when it is cut or faulty. */
  private string(): boolean {
    const { text } = this;
    for (this.at++; this.at < text.length; this.at++) {
      const code = text.charCodeAt(this.at);
      if (code === 34) {
        this.at++;
        return true;
      }
      if (code < 32) {
        this.stop(code === 10 || code === 13 ? 'raw_line_break' : 'raw_control_character');
        return false;
      }
      if (code === 92 && !this.escape()) return false;
    }
    return false;
  }

  /** Steps over an escape but for its last character; false when it is cut or faulty. */
  private escape(): boolean {
    const { text, at } = this;
    const letter = text[at + 1];
    const hex = /[\da-fA-F]{0,4}/y;
    hex.lastIndex = at + 2;
    const digits = letter === 'u' ? (hex.exec(text)?.[0].length ?? 0) : 4;
    if (letter === undefined || (digits < 4 && at + 2 + digits >= text.length)) {
      this.at = text.length;
      return false;
    }
    if (!'"\\/bfnrtu'.includes(letter) || digits < 4) {
      this.stop('bad_escape');
      return false;
    }
    this.at += letter === 'u' ? 5 : 1;
    return true;
  }
}
