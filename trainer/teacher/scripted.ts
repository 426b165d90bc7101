/**
 * The offline teacher: reads the prompt, lays the graph out, and proposes several completions of different looks, some of
 * them faulty, as a sampled model would. It does not know which are good; the environment's reward decides.
 */
import type { Action } from '../../schemas/action.ts';
import type { Observation } from '../../schemas/episode.ts';
import type { Rng } from '../../schemas/seed.ts';
import { layoutGraph, type LayoutStyle } from './layout.ts';
import { readPrompt } from './read-prompt.ts';

export interface ScriptedTeacher {
  readonly name: string;
  /** `n` completions for an observation, as JSON text; none when the prompt's wording is unknown. */
  propose(observation: Pick<Observation, 'prompt' | 'canvas_size'>, n: number): string[];
}

export interface TeacherOptions {
  /** Share of completions that carry a deliberate fault, 0..1. */
  flaw_rate: number;
}

export const DEFAULT_TEACHER_OPTIONS: TeacherOptions = { flaw_rate: 0.15 };

const DIRECTIONS: readonly LayoutStyle['direction'][] = ['right', 'down'];
const WIDTHS = [160, 160, 200] as const;

function drawStyle(rng: Rng): LayoutStyle {
  return { direction: rng.pick(DIRECTIONS), w: rng.pick(WIDTHS), h: 80 };
}

type Flaw = (actions: readonly Action[], rng: Rng) => Action[];

const isConnect = (action: Action) => action.type === 'connect';
const isCreate = (action: Action) => action.type === 'create_shape';

/** Replaces one action chosen by `among`; a drawing without such an action stays as it is. */
function changeOne(
  actions: readonly Action[],
  rng: Rng,
  among: (action: Action) => boolean,
  change: (a: Action) => Action[],
) {
  const positions = actions.flatMap((action, i) => (among(action) ? [i] : []));
  if (positions.length === 0) return [...actions];
  const at = rng.pick(positions);
  return actions.flatMap((action, i) => (i === at ? change(action) : [action]));
}

const forgetArrow: Flaw = (actions, rng) => changeOne(actions, rng, isConnect, () => []);

const reverseArrow: Flaw = (actions, rng) =>
  changeOne(actions, rng, isConnect, (a) => (a.type === 'connect' ? [{ ...a, from: a.to, to: a.from }] : [a]));

const wrongArrow: Flaw = (actions, rng) => {
  const ids = actions.flatMap((action) => (action.type === 'create_shape' ? [action.id] : []));
  return changeOne(actions, rng, isConnect, (a) =>
    a.type === 'connect' ? [{ ...a, to: rng.pick(ids.filter((id) => id !== a.from)) }] : [a],
  );
};

/** One box on top of another's place. */
const stackBox: Flaw = (actions, rng) => {
  const first = actions.find(isCreate);
  return changeOne(
    actions,
    rng,
    (a) => isCreate(a) && a !== first,
    (a) =>
      a.type === 'create_shape' && first?.type === 'create_shape' ? [{ ...a, x: first.x, y: first.y + 20 }] : [a],
  );
};

/** All boxes too narrow for their labels. */
const narrowBoxes: Flaw = (actions) => actions.map((a) => (a.type === 'create_shape' ? { ...a, w: 40 } : a));

const FLAWS: readonly Flaw[] = [forgetArrow, reverseArrow, wrongArrow, stackBox, narrowBoxes];

export function createScriptedTeacher(rng: Rng, options: TeacherOptions = DEFAULT_TEACHER_OPTIONS): ScriptedTeacher {
  return {
    name: 'scripted',
    propose({ prompt, canvas_size }, n) {
      const graph = readPrompt(prompt);
      if (!graph) return [];
      return Array.from({ length: n }, () => {
        const actions = layoutGraph(graph, canvas_size, drawStyle(rng));
        const flawed = rng.next() < options.flaw_rate;
        return JSON.stringify({ actions: flawed ? rng.pick(FLAWS)(actions, rng) : actions });
      });
    },
  };
}
