/**
 * Damaged drawings and how to repair them: one fault that a reader of the picture would see, and the editor actions that
 * lead from what is drawn to what was wanted.
 */
import type { Action } from '../../schemas/action.ts';
import type { Arrow, Canvas, Shape } from '../../schemas/canvas.ts';
import type { Rng } from '../../schemas/seed.ts';

type CreateShape = Extract<Action, { type: 'create_shape' }>;
type Connect = Extract<Action, { type: 'connect' }>;

const shapesOf = (actions: readonly Action[]): CreateShape[] => actions.filter((a) => a.type === 'create_shape');
const connectsOf = (actions: readonly Action[]): Connect[] => actions.filter((a) => a.type === 'connect');

/** Puts something else, or nothing, in the place of one action. */
type Fault = (actions: readonly Action[], rng: Rng) => { old: Action; by: readonly Action[] };

const forgetArrow: Fault = (actions, rng) => ({ old: rng.pick(connectsOf(actions)), by: [] });

const reverseArrow: Fault = (actions, rng) => {
  const old = rng.pick(connectsOf(actions));
  return { old, by: [{ ...old, from: old.to, to: old.from }] };
};

/** A box is called what another one is called. */
const misnameBox: Fault = (actions, rng) => {
  const [old, other] = rng.shuffle(shapesOf(actions));
  return { old: old!, by: [{ ...old!, text: other!.text }] };
};

/** A box lies on another one. */
const stackBox: Fault = (actions, rng) => {
  const [old, other] = rng.shuffle(shapesOf(actions));
  return { old: old!, by: [{ ...old!, x: other!.x + 20, y: other!.y + 20 }] };
};

const narrowBox: Fault = (actions, rng) => {
  const old = rng.pick(shapesOf(actions));
  return { old, by: [{ ...old, w: 40 }] };
};

/** The drawing with one fault. It needs two boxes; without an arrow only boxes are damaged. */
export function damage(actions: readonly Action[], rng: Rng): Action[] {
  const onBoxes = [misnameBox, stackBox, narrowBox];
  const faults = connectsOf(actions).length === 0 ? onBoxes : [...onBoxes, forgetArrow, reverseArrow];
  const { old, by } = rng.pick(faults)(actions, rng);
  return actions.flatMap((action) => (action === old ? by : [action]));
}

/**
 * Editor actions that turn a canvas into what `wanted` draws on an empty one, and `done`: shapes in the order wanted, then
 * those that do not belong, then arrows.
 */
export function toRepair({ shapes, arrows }: Canvas, wanted: readonly Action[]): Action[] {
  const drawn = new Map(shapes.map((shape) => [shape.id, shape]));
  const boxes = shapesOf(wanted);
  const ids = new Set(boxes.map(({ id }) => id));
  const extra = shapes.filter(({ id }) => !ids.has(id));
  return [
    ...boxes.flatMap((box) => repairBox(drawn.get(box.id), box)),
    ...extra.map(({ id }): Action => ({ type: 'delete_shape', id })),
    ...repairArrows(arrows, connectsOf(wanted)),
    { type: 'done' },
  ];
}

function repairBox(drawn: Shape | undefined, wanted: CreateShape): Action[] {
  if (drawn?.shape !== wanted.shape) return drawn ? [{ type: 'delete_shape', id: drawn.id }, wanted] : [wanted];
  const { id, x, y, w, h, text = '' } = wanted;
  return [
    ...(drawn.x === x && drawn.y === y ? [] : [{ type: 'move_shape' as const, id, x, y }]),
    ...(drawn.w === w && drawn.h === h ? [] : [{ type: 'resize_shape' as const, id, w, h }]),
    ...(drawn.text === text ? [] : [{ type: 'set_text' as const, id, text }]),
  ];
}

/** Takes off the arrows of pairs that have one too many, which takes off all of the pair, then draws what is missing. */
function repairArrows(drawn: readonly Arrow[], wanted: readonly Connect[]): Action[] {
  const missing = [...wanted];
  const wrong = new Map<string, { from: string; to: string }>();
  for (const { from, to, text } of drawn) {
    const at = missing.findIndex((arrow) => isOfPair(arrow, { from, to }) && (arrow.text ?? '') === text);
    if (at < 0) wrong.set(JSON.stringify([from, to]), { from, to });
    else missing.splice(at, 1);
  }
  const anew = wanted.filter((arrow) => missing.includes(arrow) || wrong.has(JSON.stringify([arrow.from, arrow.to])));
  return [...[...wrong.values()].map((pair): Action => ({ type: 'disconnect', ...pair })), ...anew];
}

function isOfPair(arrow: Connect, { from, to }: { from: string; to: string }): boolean {
  return arrow.from === from && arrow.to === to;
}
