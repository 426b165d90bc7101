/** Faults a sampled teacher would make now and then, done on purpose, so that filtering by reward has something to drop. */
import type { Action } from '../../schemas/action.ts';
import type { Rng } from '../../schemas/seed.ts';

type CreateShape = Extract<Action, { type: 'create_shape' }>;
type Connect = Extract<Action, { type: 'connect' }>;

const shapesOf = (actions: readonly Action[]): CreateShape[] => actions.filter((a) => a.type === 'create_shape');
const connectsOf = (actions: readonly Action[]): Connect[] => actions.filter((a) => a.type === 'connect');
const replace = (actions: readonly Action[], old: Action, by: readonly Action[]): Action[] =>
  actions.flatMap((action) => (action === old ? by : [action]));

type Flaw = (actions: readonly Action[], rng: Rng) => Action[];

/** Changes one arrow; a drawing without arrows stays as it is. */
const onArrow =
  (change: (arrow: Connect, ids: readonly string[], rng: Rng) => Action[]): Flaw =>
  (actions, rng) => {
    const arrows = connectsOf(actions);
    if (arrows.length === 0) return [...actions];
    const arrow = rng.pick(arrows);
    const ids = shapesOf(actions).map((shape) => shape.id);
    return replace(actions, arrow, change(arrow, ids, rng));
  };

/** Changes one box; a drawing without boxes stays as it is. */
const onBox =
  (change: (box: CreateShape, all: readonly CreateShape[], rng: Rng) => Action[]): Flaw =>
  (actions, rng) => {
    const boxes = shapesOf(actions);
    if (boxes.length === 0) return [...actions];
    const box = rng.pick(boxes);
    return replace(actions, box, change(box, boxes, rng));
  };

/** An arrow is forgotten, reversed, or ends at another box. */
const forgetArrow = onArrow(() => []);
const reverseArrow = onArrow((arrow) => [{ ...arrow, from: arrow.to, to: arrow.from }]);
const misleadArrow = onArrow((arrow, ids, rng) => {
  const others = ids.filter((id) => id !== arrow.from && id !== arrow.to);
  return others.length === 0 ? [arrow] : [{ ...arrow, to: rng.pick(others) }];
});

/** A box is forgotten (its arrows are refused then), lies on another one, or is called by another's name. */
const forgetBox = onBox(() => []);
const stackBox = onBox((box, all, rng) => {
  const { x, y } = rng.pick(all);
  return [{ ...box, x, y: y + 20 }];
});
const misnameBox = onBox((box, all, rng) => [{ ...box, text: rng.pick(all).text }]);

/** All boxes are too narrow for their labels. */
const narrowBoxes: Flaw = (actions) =>
  actions.map((action) => (action.type === 'create_shape' ? { ...action, w: 40 } : action));

/** All arrows are forgotten. */
const forgetArrows: Flaw = (actions) => shapesOf(actions);

const FLAWS: readonly Flaw[] = [
  forgetArrow,
  reverseArrow,
  misleadArrow,
  forgetBox,
  stackBox,
  misnameBox,
  narrowBoxes,
  forgetArrows,
];

/** Chance that a flawed completion ends in the middle, like one that ran out of tokens. */
const CUT_SHARE = 0.15;

/** The completion with one to three faults, or cut off. */
export function toFlawedText(actions: readonly Action[], rng: Rng): string {
  const text = JSON.stringify({ actions });
  if (rng.next() < CUT_SHARE) return text.slice(0, rng.int(text.length >> 1, text.length - 2));
  let flawed = [...actions];
  for (let i = rng.int(1, 3); i > 0; i--) flawed = rng.pick(FLAWS)(flawed, rng);
  return JSON.stringify({ actions: flawed });
}
