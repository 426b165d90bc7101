/**
 * The offline teacher: reads the prompt, lays the graph out, and proposes several completions of different looks, some of
 * them faulty, as a sampled model would. It does not know which are good; the environment's reward decides.
 */
import type { Observation } from '../../schemas/episode.ts';
import type { Rng } from '../../schemas/seed.ts';
import { toFlawedText } from './flaws.ts';
import { layoutGraph, type LayoutStyle } from './layout.ts';
import { readPrompt } from './read-prompt.ts';

export interface ScriptedTeacher {
  readonly name: 'scripted';
  /**
   * `n` completions for a first observation, as compact JSON text. None when the prompt's wording is unknown or the canvas
   * is too small.
   */
  propose(observation: Pick<Observation, 'prompt' | 'canvas_size'>, n: number): string[];
}

export interface TeacherOptions {
  /** Share of completions that carry deliberate faults, 0..1. */
  flaw_rate: number;
}

export const DEFAULT_TEACHER_OPTIONS: TeacherOptions = { flaw_rate: 0.25 };

const DIRECTIONS: readonly LayoutStyle['direction'][] = ['right', 'down'];
const WIDTHS: readonly LayoutStyle['w'][] = [160, 160, 200];

export function createScriptedTeacher(rng: Rng, options: TeacherOptions = DEFAULT_TEACHER_OPTIONS): ScriptedTeacher {
  return {
    name: 'scripted',
    propose({ prompt, canvas_size }, n) {
      const graph = readPrompt(prompt);
      if (!graph) return [];
      return Array.from({ length: n }).flatMap(() => {
        const actions = layoutGraph(graph, canvas_size, { direction: rng.pick(DIRECTIONS), w: rng.pick(WIDTHS) });
        if (!actions) return [];
        return rng.next() < options.flaw_rate ? toFlawedText(actions, rng) : JSON.stringify({ actions });
      });
    },
  };
}
