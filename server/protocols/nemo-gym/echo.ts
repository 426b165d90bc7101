/**
 * A JSON object with fields of ours added to it, in bytes: whatever else it holds comes back as it was sent, numbers that no
 * double holds included. Members of the same names give way.
 */

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPENING = new Set([0x7b, 0x5b]);
const CLOSING = new Set([0x7d, 0x5d]);

/** Where the string that begins at `start` ends: its closing quote. */
function endOfString(json: Uint8Array, start: number): number {
  let at = start + 1;
  while (json[at] !== QUOTE) at += json[at] === BACKSLASH ? 2 : 1;
  return at;
}

/** The members of an object, each from behind the sign before it to the sign after it, spaces included. */
function membersOf(json: Uint8Array): Uint8Array[] {
  const members: Uint8Array[] = [];
  let depth = 0;
  let start = 0;
  const close = (end: number): void => {
    members.push(json.subarray(start, end));
    start = end + 1;
  };
  for (let at = 0; at < json.length; at++) {
    const byte = json[at]!;
    if (byte === QUOTE) at = endOfString(json, at);
    else if (OPENING.has(byte) && depth++ === 0) start = at + 1;
    else if (CLOSING.has(byte) && --depth === 0) close(at);
    else if (byte === COMMA && depth === 1) close(at);
  }
  return members;
}

function nameOf(member: Uint8Array): string {
  const start = member.indexOf(QUOTE);
  return JSON.parse(Buffer.from(member.subarray(start, endOfString(member, start) + 1)).toString()) as string;
}

/** @param json A JSON object that has a member at least. @param fields At least one. */
export function withFields(json: Uint8Array, fields: Readonly<Record<string, number>>): Uint8Array {
  const ours = Buffer.from(JSON.stringify(fields));
  const kept = membersOf(json).filter((member) => !Object.hasOwn(fields, nameOf(member)));
  const comma = Buffer.of(COMMA);
  const parts = kept.flatMap((member) => [member, comma]);
  return Buffer.concat([ours.subarray(0, 1), ...parts, ours.subarray(1)]);
}
