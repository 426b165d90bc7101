/** The lenient rule of server/canvas/parse.ts, point by point. */
import { describe, expect, test } from 'vitest';
import { box, codes, drawOn, ids, text } from './support.ts';

const A = text(box('a'));
const B = text(box('b'));
const LIST = JSON.stringify([box('l')]);
const CUT = `${text(box('c')).slice(0, -2)},{"type":"connect","fr`;

describe('which answer counts', () => {
  test.each([
    ['the whole text', ` ${A}\n`, 'strict', ['a']],
    ['a fence', '```json\n' + A + '\n```', 'extracted', ['a']],
    ['prose on both sides', `Sure {really}: ${A} Done [1].`, 'extracted', ['a']],
    ['the last of two', `${A}\n${B}`, 'extracted', ['b']],
    ['an object without actions does not count', `${A} {"note": 1}`, 'extracted', ['a']],
    ['after thinking', `<think>maybe ${B} or {"actions": [</think>${A}`, 'extracted', ['a']],
    ['not the draft, where the opening tag was in the prompt', `draft ${B}</think>\n${A}`, 'extracted', ['a']],
    ['a fenced bare list', '```\n' + LIST + '\n```', 'extracted', ['l']],
    ['an object before a later bare list', `${A} ${LIST}`, 'extracted', ['a']],
    ['the list behind a key without quotes', `{actions: ${LIST}}`, 'extracted', ['l']],
    ['the complete actions of a cut object', `Here: ${CUT}`, 'repaired', ['c']],
    ['the complete actions of a cut list', LIST.slice(0, -1) + ', {"ty', 'repaired', ['l']],
    ['a complete object before a cut one', `${A} Correction: ${CUT}`, 'repaired', ['a']],
    ['a cut object before a bare list', `${LIST} ${CUT}`, 'repaired', ['c']],
    ['the answer inside a label is text', text(box('a', { text: B })), 'strict', ['a']],
    ['think tags in a label are text', '`' + text(box('a', { text: '</think>' })) + '`', 'extracted', ['a']],
  ] as const)('%s', (_name, completion, outcome, shapes) => {
    const drawing = drawOn(completion);
    expect(ids(drawing.apply?.canvas)).toEqual(shapes);
    expect(drawing.parse.info.outcome).toBe(outcome);
    expect(drawing.parse.info.truncated).toBe(outcome === 'repaired');
  });

  test.each([
    ['an object', { actions: [box('a')] }, 'strict', ['a']],
    ['a list', [box('a')], 'extracted', ['a']],
  ] as const)('%s that is parsed already', (_name, completion, outcome, shapes) => {
    const drawing = drawOn(completion);
    expect(drawing.parse.info.outcome).toBe(outcome);
    expect(ids(drawing.apply?.canvas)).toEqual(shapes);
  });

  test('preset article takes neither a bare list nor the last of two objects', () => {
    expect(codes(drawOn(LIST, { preset: 'article' }))).toEqual(['missing_actions']);
    expect(codes(drawOn([box('a')], { preset: 'article' }))).toEqual(['missing_actions']);
    expect(codes(drawOn(`${A} ${B}`, { preset: 'article' }))).toEqual(['invalid_json']);
    expect(codes(drawOn(CUT, { preset: 'article' }))).toEqual(['invalid_json']);
  });
});

describe('faults say what to change', () => {
  test.each([
    ['nothing', '', 'no_json', /answer with one JSON object/],
    ['only prose', 'I cannot draw that.', 'no_json', /answer with one JSON object/],
    ['thinking that never ends', `<think>${A}`, 'no_json', /answer with one JSON object/],
    ['another object', '{"shapes": []}', 'missing_actions', /"actions": \[/],
    ['actions that are no list', '{"actions": "x"}', 'missing_actions', /"actions": \[/],
    ['no actions', '{"actions": []}', 'empty_actions', /at least one/],
    ['an action that is a string', '{"actions": ["box"]}', 'action_not_object', /"type"/],
    ['a scalar', '42', 'missing_actions', /"actions": \[/],
    ['a trailing comma in a list', '{"actions": [{"type": "done"},]}', 'invalid_json', /column 31: remove the comma/],
    [
      'a trailing comma in an object',
      '{"actions": [{"type": "done",}]}',
      'invalid_json',
      /column 30: remove the comma/,
    ],
    ['single quotes', "{'actions': []}", 'invalid_json', /column 2: .*double quotes/],
    ['a quote in a label', '{"actions": [{"text": "a "b" c"}]}', 'invalid_json', /column 27: .*double quote as \\"/],
    ['a comment', '{"actions": [] // none\n}', 'invalid_json', /column 16: a comma/],
    ['a backslash', '{"actions": ["a\\d"]}', 'invalid_json', /column 16: .*backslash/],
    ['a tab in a string', '{"actions": ["a\tb"]}', 'invalid_json', /column 16: .*escape/],
    ['a leading zero', '{"actions": [01]}', 'invalid_json', /column 14: not a JSON number/],
    ['the second line', '{\n"actions" []}', 'invalid_json', /line 2, column 11: a colon/],
    ['cut before the first action ends', '{"actions": [{"type": "cre', 'truncated', /shorter/],
  ] as const)('%s', (_name, completion, code, message) => {
    const { parse } = drawOn(completion);
    expect(parse.actions).toBeNull();
    expect(parse.errors.map((error) => error.code)).toEqual([code]);
    expect(parse.errors[0]?.message).toMatch(message);
  });

  test.each([[null], [undefined], [7n], [true], [() => A]])('a completion that is %s', (completion) => {
    expect(drawOn(completion).apply).toBeNull();
  });
});
