/**
 * The wordings of prompts, as data: patterns with placeholders in braces. Two sets exist, and no sentence is in both:
 * `HELD_OUT` words the split `test_template` alone, `SEEN` all others.
 */
import type { Direction, Family, Split } from '../../../schemas/task.ts';

/** Levels 1 and 2: explicit lists. Names stand between the same few strings, never inflected: a tiny model copies tokens. */
export interface ListWording {
  /** Placeholders: noun, Noun, boxes, links, arrows, Arrows. */
  text: string;
  link: string;
  labelled: string;
  separator: string;
}

/** Ways to say that a link leads from `a` to `b`: with `a` as the subject, and with `b`. */
export interface Phrases {
  active: readonly string[];
  passive: readonly string[];
  /** Says how a connection is drawn where the phrases leave that open. */
  note?: string;
}

/** Level 3 and up: one sentence for each connection, names in quotes. */
export interface ProseWording {
  intros: readonly string[];
  directions: Readonly<Record<Direction, string>>;
  boxes: readonly string[];
  one_shape: string;
  many_shapes: string;
  labelled: string;
  duplicate: string;
  phrases: Readonly<Record<Family, Phrases>>;
  distractors: readonly string[];
}

export interface Wordings {
  lists: readonly ListWording[];
  prose: ProseWording;
}

/** The family as an object of "draw". */
export const FAMILY_NOUNS: Readonly<Record<Family, string>> = {
  architecture: 'an architecture diagram',
  flowchart: 'a flowchart',
  pipeline: 'a pipeline',
  org_tree: 'an org chart',
  state_machine: 'a state machine',
  er: 'an entity diagram',
  network: 'a network map',
  cycle: 'a cycle',
  timeline: 'a timeline',
  comparison: 'a comparison',
};

const PLAIN_LIST = { link: '{a} to {b}', labelled: '{a} to {b} labelled {label}', separator: ', ' } as const;

export const SEEN: Wordings = {
  lists: [
    { ...PLAIN_LIST, text: 'Draw {noun} with boxes: {boxes}. {Arrows}: {links}.' },
    { ...PLAIN_LIST, text: '{Noun}, please. Boxes: {boxes}. {Arrows}: {links}.', separator: ', then ' },
    { ...PLAIN_LIST, text: 'Make {noun} of these boxes: {boxes}. Then draw {arrows}: {links}.' },
    { ...PLAIN_LIST, text: 'Boxes: {boxes}. {Arrows}: {links}. Draw it as {noun}.' },
  ],
  prose: {
    intros: ['Draw {noun}{direction}.', 'Please draw {noun}{direction}.', 'I need {noun}{direction}.'],
    directions: {
      right: ' from left to right',
      left: ' from right to left',
      down: ' from top to bottom',
      up: ' from bottom to top',
    },
    boxes: ['Its boxes are {boxes}.', 'It has {count} boxes: {boxes}.', 'The boxes: {boxes}.'],
    one_shape: 'Draw {names} as {a_shape}.',
    many_shapes: 'Draw {names} as {shapes}.',
    labelled: '{sentence} (labelled {label})',
    duplicate: 'Two boxes are called {name}; the first is the one listed first.',
    phrases: {
      architecture: {
        active: ['{a} calls {b}', '{a} sends requests to {b}'],
        passive: ['{b} is called by {a}', '{b} gets requests from {a}'],
        note: 'Each arrow points to what is called.',
      },
      flowchart: {
        active: ['{a} leads to {b}', 'from {a} go to {b}'],
        passive: ['{b} comes after {a}', '{b} follows {a}'],
      },
      pipeline: {
        active: ['{a} feeds {b}', '{a} passes its output to {b}'],
        passive: ['{b} takes the output of {a}', '{b} comes after {a}'],
      },
      org_tree: {
        active: ['{a} manages {b}', '{a} is the manager of {b}'],
        passive: ['{b} reports to {a}', '{b} works for {a}'],
        note: 'Each arrow points from the manager to the report.',
      },
      state_machine: {
        active: ['{a} can change to {b}', 'from {a} it moves to {b}'],
        passive: ['{b} is entered from {a}', '{b} can follow {a}'],
      },
      er: {
        active: ['{a} is related to {b}', '{a} belongs with {b}'],
        passive: ['{b} is tied to {a}'],
        note: 'The lines have no direction.',
      },
      network: {
        active: ['{a} is linked to {b}', '{a} is wired to {b}'],
        passive: ['{b} shares a cable with {a}'],
        note: 'The lines have no direction.',
      },
      cycle: {
        active: ['{a} leads to {b}', '{a} is followed by {b}'],
        passive: ['{b} comes after {a}', '{b} follows {a}'],
      },
      timeline: {
        active: ['{a} comes before {b}', '{a} is followed by {b}'],
        passive: ['{b} comes after {a}', '{b} follows {a}'],
        note: 'Each arrow points to the later event.',
      },
      comparison: {
        active: ['{a} heads the column with {b}', '{a} has an arrow to {b}'],
        passive: ['{b} is listed under {a}', '{b} stands below {a}'],
        note: 'Each arrow points from the head of a column to an item in it.',
      },
    },
    distractors: [
      'We will show this on Monday.',
      'The last version was hard to read.',
      'About forty people will look at it.',
      'Nobody needs the history of the project here.',
      'It goes on page 12 of the handbook.',
      'The budget is settled elsewhere.',
      'Colors do not matter.',
      'We talked about this twice last week.',
      'A photo of the whiteboard got lost.',
    ],
  },
};

export const HELD_OUT: Wordings = {
  lists: [
    {
      text: 'Could you sketch {noun}? It consists of {boxes}. It has {arrows} {links}.',
      link: 'from {a} to {b}',
      labelled: 'from {a} to {b} marked {label}',
      separator: ', ',
    },
    {
      text: 'Diagram type: {noun}\nNodes: {boxes}\nEdges ({arrows}): {links}',
      link: '{a} - {b}',
      labelled: '{a} - {b} [{label}]',
      separator: '; ',
    },
    {
      text: 'I want to see {boxes} on one picture, as {noun}, with {arrows} that join {links}.',
      link: '{a} with {b}',
      labelled: '{a} with {b} ({label})',
      separator: ' and ',
    },
  ],
  prose: {
    intros: ['Could you sketch {noun}{direction}?', 'We want {noun} on one picture{direction}.'],
    directions: {
      right: ', reading rightwards',
      left: ', reading leftwards',
      down: ', reading downwards',
      up: ', reading upwards',
    },
    boxes: ['Elements: {boxes}.', 'Show {boxes}.'],
    one_shape: 'Give {names} the shape of {a_shape}.',
    many_shapes: 'Give {names} the shape of {shapes}.',
    labelled: '{sentence}, and the connection says {label}',
    duplicate: 'The name {name} occurs twice; count in the order given above.',
    phrases: {
      architecture: {
        active: ['{a} talks to {b}', '{a} depends on {b}'],
        passive: ['{b} answers {a}'],
        note: 'Arrows run from the asking side to the answering side.',
      },
      flowchart: { active: ['after {a} do {b}', 'once {a} is over, {b} starts'], passive: ['{b} is next after {a}'] },
      pipeline: { active: ['{a} hands over to {b}', '{a} flows into {b}'], passive: ['{b} is filled by {a}'] },
      org_tree: {
        active: ['{a} is the boss of {b}', '{a} supervises {b}'],
        passive: ['{b} answers to {a}'],
        note: 'Arrows run downwards in rank.',
      },
      state_machine: { active: ['{a} may turn into {b}'], passive: ['{b} can be reached from {a}'] },
      er: {
        active: ['{a} is associated with {b}'],
        passive: ['{b} is associated with {a}'],
        note: 'Plain lines only.',
      },
      network: {
        active: ['a cable joins {a} to {b}'],
        passive: ['{b} and {a} are neighbours'],
        note: 'Plain lines only.',
      },
      cycle: { active: ['{a} turns into {b}', 'after {a} do {b}'], passive: ['{b} is next after {a}'] },
      timeline: { active: ['{a} precedes {b}'], passive: ['{b} is next after {a}'], note: 'Arrows follow time.' },
      comparison: {
        active: ['{a} covers {b}'],
        passive: ['{b} is an item of {a}'],
        note: 'Arrows run from heads to items.',
      },
    },
    distractors: [
      'The printer on the second floor is out of paper.',
      'My colleague asked for it in March.',
      'Take your time.',
      'The fonts are up to you.',
      'It replaces a table of six columns.',
    ],
  },
};

export function wordingsOf(split: Split): Wordings {
  return split === 'test_template' ? HELD_OUT : SEEN;
}
