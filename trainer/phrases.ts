/**
 * The phrases that wordings.ts puts prompts together from, as data. Placeholders stand in braces; in the lists called INVENTED a
 * tilde stands for a made-up word, and a hash for a run of up to five small ones.
 */
import type { Direction } from '../schemas/task.ts';

export const NOUNS = [
  ...['a diagram', 'a chart', 'a drawing', 'a graph', 'a flow diagram', 'a system diagram', 'an overview', 'a map'],
  ...['an architecture diagram', 'a flowchart', 'a pipeline', 'an org chart', 'a state machine', 'a tree', 'a plan'],
  ...['an entity diagram', 'a network map', 'a cycle', 'a process', 'a hierarchy', 'a schema', 'a scheme'],
];
export const INTROS = [
  ...['Draw {noun}{way}.', 'Create {noun}{way}.', 'Make {noun}{way}.', 'I need {noun}{way}.', 'Show me {noun}{way}.'],
  ...['Please draw {noun}{way}.', 'Please produce {noun}{way}.', 'Give me {noun}{way}.', 'Build {noun}{way}.'],
  ...['Can you make {noun}{way}?', 'Would you draw {noun}{way} for us?', '{Noun}{way}, please.', 'Task: {noun}{way}.'],
  ...['This should become {noun}{way}.', 'What I would like is {noun}{way}.', '{Noun}{way}.', 'Prepare {noun}{way}.'],
];
export const INVENTED_INTROS = [
  '# {noun} #{way}.',
  '# {noun}{way} #.',
  '~ {noun}{way}.',
  'Please ~ {noun}{way}.',
  'Can you ~ {noun}{way}?',
  '{Noun}{way} ~ ~.',
  '~ ~ ~ {noun}{way}.',
];

export const WAYS: Readonly<Record<Direction, readonly string[]>> = {
  right: [
    ' from left to right',
    ' left to right',
    ' going right',
    ', flowing to the right',
    ', towards the right',
    ' that runs to the right',
  ],
  left: [
    ' from right to left',
    ' right to left',
    ' going left',
    ', flowing to the left',
    ', towards the left',
    ' that runs to the left',
  ],
  down: [
    ' from top to bottom',
    ' top to bottom',
    ' going down',
    ', flowing down',
    ', towards the bottom',
    ' that runs down the page',
  ],
  up: [
    ' from bottom to top',
    ' bottom to top',
    ' going up',
    ', flowing up',
    ', towards the top',
    ' that runs up the page',
  ],
};

export const BOX_HEADS = [
  ...['Boxes: {boxes}', 'Its boxes are {boxes}', 'The boxes: {boxes}', 'Use these boxes: {boxes}', 'Items: {boxes}'],
  ...[
    'It contains {boxes}',
    'The shapes are {boxes}',
    'Parts: {boxes}',
    'There are {count} boxes: {boxes}',
    'It has {boxes}',
  ],
  ...[
    'We have {boxes}',
    'Place {boxes}',
    'Start with {boxes}',
    'Box names: {boxes}',
    '{boxes} are the boxes',
    '{boxes} belong on it',
  ],
];
export const INVENTED_BOX_HEADS = [
  '#: {boxes}',
  '# {boxes}',
  '# {boxes} #',
  '~: {boxes}',
  '~ ~: {boxes}',
  'The ~ are {boxes}',
  'It ~ {boxes}',
  '~ {boxes}',
  '{boxes} ~ ~',
];

export const LINK_HEADS = [
  ...['Arrows: {links}', 'Lines: {links}', 'Then draw arrows: {links}', 'Connect {links}', 'Connections: {links}'],
  ...[
    'Links: {links}',
    'Arrows go {links}',
    'The arrows are {links}',
    'Draw lines for {links}',
    'Join {links}',
    'There are arrows {links}',
  ],
];
export const INVENTED_LINK_HEADS = [
  '#: {links}',
  '# {links}',
  '# arrows # {links}',
  '~: {links}',
  '~ ~: {links}',
  'The ~ are {links}',
  'It ~ arrows {links}',
];

export const SHORT_LINKS = [
  ...['{a} to {b}', '{a} -> {b}', '{a} => {b}', '{a} → {b}', '{a} > {b}', '{a} >> {b}', '{a} --> {b}', '({a}, {b})'],
  ...['{a} into {b}', '{a} towards {b}', '{a} and {b}', '{a}: {b}', '{a} / {b}', '{a} | {b}', 'one for {a} and {b}'],
];
export const INVENTED_SHORT_LINKS = [
  '{a} ~ {b}',
  '{a} # {b}',
  '{a} ~ {b}',
  '~ {a} ~ {b}',
  '{a} ~ ~ {b}',
  'a ~ {a} to {b}',
  '{a} _ {b}',
  '{a} .. {b}',
  '{a} + {b}',
  '<{a} ~ {b}>',
];
export const SHORT_LABELS = [
  ...[
    '{link} labelled {label}',
    '{link} called {label}',
    '{link} named {label}',
    '{link} saying {label}',
    '{link}: {label}',
  ],
  ...[
    '{link} as {label}',
    '{link} <{label}>',
    '{link} {{label}}',
    '{link} "{label}"',
    '{link} = {label}',
    '{link} /{label}/',
    '{link} *{label}*',
  ],
];
export const INVENTED_SHORT_LABELS = [
  '{link} # {label}',
  '{link}, # {label}',
  '{link} ~ {label}',
  '{link} ~ ~ {label}',
  '{link} ~: {label}',
];
export const LINK_SEPARATORS = [
  ', ',
  '; ',
  ', then ',
  ' and ',
  ', and ',
  ' | ',
  '\n',
  ' / ',
  ' then ',
  '\n- ',
  ', also ',
];

/** Sentences in which the arrow leads from a to b, and those in which b comes first or is what is done to. */
export const ACTIVE = [
  ...[
    '{a} leads to {b}',
    '{a} points to {b}',
    '{a} connects to {b}',
    '{a} triggers {b}',
    '{a} sends data to {b}',
    '{a} calls {b}',
  ],
  ...[
    '{a} goes to {b}',
    '{a} is followed by {b}',
    '{a} starts {b}',
    '{a} feeds {b}',
    '{a} uses {b}',
    '{a} opens {b}',
    '{a} owns {b}',
  ],
  ...[
    'there is an arrow from {a} to {b}',
    'draw an arrow from {a} to {b}',
    'connect {a} to {b}',
    'link {a} and {b}',
    'from {a} go to {b}',
  ],
  ...[
    '{a} has an arrow to {b}',
    '{a} manages {b}',
    '{a} can change to {b}',
    '{a} comes before {b}',
    '{a} is the parent of {b}',
  ],
  ...[
    '{a} is related to {b}',
    '{a} is linked to {b}',
    '{a} belongs with {b}',
    '{a} is above {b}',
    'after {a} comes {b}',
    'first {a}, then {b}',
  ],
  ...[
    '{a} is wired to {b}',
    '{a} writes to {b}',
    '{a} is the source for {b}',
    '{a} asks {b}',
    'a line joins {a} and {b}',
    '{a} becomes {b}',
  ],
];
export const INVENTED_ACTIVE = [
  '{a} # {b}',
  '{a} ~ # {b}',
  '# {a} # {b}',
  '# {a} # {b} #',
  '{a} # to {b}',
  '{a} # before {b}',
  '{a} ~ {b}',
  '{a} ~ to {b}',
  '{a} is the ~ of {b}',
  '{a} may ~ {b}',
  'a ~ leads from {a} to {b}',
  '{a} ~ ~ {b}',
  '{a} is ~ with {b}',
  '~ {a} ~ {b}',
];
export const PASSIVE = [
  ...[
    '{b} comes after {a}',
    '{b} follows {a}',
    '{b} is triggered by {a}',
    '{b} is called by {a}',
    '{b} gets data from {a}',
  ],
  ...[
    '{b} is fed by {a}',
    '{b} is used by {a}',
    '{b} is entered from {a}',
    '{b} reports to {a}',
    '{b} works for {a}',
    '{b} is owned by {a}',
  ],
  ...[
    '{b} is under {a}',
    '{b} is listed under {a}',
    '{b} is a part of {a}',
    '{b} starts after {a}',
    '{b} receives from {a}',
    '{b} is next, after {a}',
  ],
  ...[
    '{b} is tied to {a}',
    '{b} takes the output of {a}',
    '{b} belongs to {a}',
    '{b} is started by {a}',
    '{b} has its input from {a}',
  ],
];
export const INVENTED_PASSIVE = [
  '{b} # {a}',
  '{b} ~ {a}',
  '{b} ~s to {a}',
  '{b} # after {a}',
  '{b} # from {a}',
  '{b} # by {a}',
  '{b} # of {a}',
  '{b} is ~ed by {a}',
  '{b} ~ after {a}',
  '{b} is ~ from {a}',
  '{b} is ~ by {a}',
  '{b} can be ~ed from {a}',
];
export const LONG_LABELS = [
  ...[
    '{sentence} (labelled {label})',
    '{sentence} (label: {label})',
    '{sentence}, labelled {label}',
    '{sentence} and reading {label}',
  ],
  ...[
    '{sentence}; write {label} on it',
    '{sentence} with the label {label}',
    '{sentence}, called {label}',
    '{sentence} ({label})',
  ],
];
export const INVENTED_LONG_LABELS = [
  '{sentence} # {label}',
  '{sentence}, # {label}',
  '{sentence}; # {label} #',
  '{sentence}, ~ {label}',
  '{sentence} (~ {label})',
  '{sentence}; ~ {label}',
];

export const SHAPES = [
  ...[
    'Draw {names} as {a_shape}',
    'Draw {names} as {shape}s',
    '{names}: {shape}',
    'Use {a_shape} for {names}',
    '{names} should be {a_shape}',
  ],
  ...[
    'Make {names} {a_shape}',
    'The shape of {names} is {a_shape}',
    'As {shape}s: {names}',
    '{names} as {a_shape}',
    'Let {names} be {shape}s',
  ],
];
export const INVENTED_SHAPES = [
  '# {names} # {a_shape}',
  '# {names} # {shape}s',
  '~ {names} ~ {a_shape}',
  '~ {names} ~ ~ {shape}s',
  '{names} ~ {shape}',
];

export const NOTES = [
  ...[
    'Each arrow points to the next one.',
    'The lines have no direction.',
    'Keep it simple.',
    'Keep it tidy.',
    'No colors.',
  ],
  ...['It is for a talk.', 'Do not add anything else.', 'It should fit on one page.', 'The names matter.', 'Thanks!'],
];
export const INVENTED_NOTES = [
  '# #.',
  '# # #.',
  'Arrows # #.',
  '# arrows #.',
  '# lines # #.',
  '~ ~ ~.',
  '~ ~ ~ ~.',
  'Arrows ~ ~ the ~.',
  'The ~ is ~.',
];

/** What runs are made of, beside made-up words: the small words that stand around names in any request. */
export const SMALL_WORDS = (
  'the a an of to in on at by with for as and or but so that this it its is are be has have will would can must do all each ' +
  'any some two three more other same such only just very also then now here there where which who what how both few many ' +
  'not no up out off under again page team week thing part way set place look need keep put work case end text word written ' +
  'carries about into through between behind next first last new old our your their we you they us please'
).split(' ');
