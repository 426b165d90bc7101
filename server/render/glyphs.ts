/** Which characters of a text the font of the PNG pictures cannot draw. */
import { COVERAGE } from './coverage.ts';

/** Characters that leave no mark of their own: white space, joiners, variation selectors, tags, other format controls. */
const INVISIBLE = /^[\s\p{Default_Ignorable_Code_Point}\p{Cf}]$/u;
const RANGES = decodeRanges(COVERAGE);

function decodeRanges(encoded: string): { first: number; last: number }[] {
  let end = 0;
  return encoded.split(' ').map((word) => {
    const [gap, more = '0'] = word.split('+');
    const first = end + parseInt(gap!, 36);
    end = first + parseInt(more, 36);
    return { first, last: end };
  });
}

/** Each missing character once, in the order of first use; they are drawn as equal empty boxes. */
export function missingGlyphs(text: string): string[] {
  return [...new Set(text)].filter((character) => !INVISIBLE.test(character) && !isCovered(character.codePointAt(0)!));
}

function isCovered(codePoint: number): boolean {
  let low = 0;
  let high = RANGES.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const { first, last } = RANGES[middle]!;
    if (codePoint < first) high = middle - 1;
    else if (codePoint > last) low = middle + 1;
    else return true;
  }
  return false;
}
