/**
 * The environment: reset and step as pure functions of the request. All an episode needs travels in `state`.
 *
 * Actions      a completion (text or parsed) of the action set `core` or `editor`; anything a model says is accepted
 * Observation  prompt, canvas (pixels, x right, y down), selection, faults of the last action, remarks, components so far
 * Reward       one turn: R of the canvas, in [0, 1]. Several turns: R(s_t) - R(s_t-1) - 0.01 with R(s_0) = 0, which
 *              telescopes, so that undoing and redoing earns nothing (Ng, Harada, Russell 1999)
 * End          terminated: the only turn of a one-turn episode, or a `done` action. truncated: the last allowed turn of
 *              a longer one, or a text cut at the token limit in a one-turn episode
 * Versions     state carries the version of its layout, of the suite and of the preset; another one is refused
 */
import { EMPTY_CANVAS } from '../schemas/canvas.ts';
import { STATE_VERSION, TURN_COST, type Observation, type State, type StopReason } from '../schemas/episode.ts';
import { toTurnOutput } from '../schemas/message.ts';
import type { ResetRequest, StepRequest } from '../schemas/requests.ts';
import type { Info, ResetResponse, StepResponse } from '../schemas/responses.ts';
import { DEFAULT_PRESET, PRESET_VERSIONS, type RewardResult } from '../schemas/reward.ts';
import { MAX_COORDINATE } from './canvas/limits.ts';
import { ApiError } from './errors.ts';
import { computeLints } from './lints.ts';
import { findTask, resolveInline, resolveTask, toResolved, type ResolvedTask } from './resolve.ts';
import type { Drawing } from './reward/types.ts';
import { draw, drawOptions, scoreFinite } from './scoring.ts';
import { assertCanvas, type Signer } from './state.ts';
import { sampleTask, SUITE_VERSION, taskAt, TaskNotFound } from './tasks/suite.ts';

const LOT_KEYS = ['split', 'family', 'level', 'index'] as const;

/** Whether a task has to be drawn by seed, so that a request without one needs a seed. */
export function needsSeed(request: ResetRequest): boolean {
  const { task_id, task, prompt } = request;
  if (task_id !== undefined || task !== undefined || prompt !== undefined) return false;
  return LOT_KEYS.some((key) => request[key] === undefined);
}

function drawLot(request: ResetRequest): ResolvedTask {
  const { split, family, level, index } = request;
  try {
    if (split !== undefined && family !== undefined && level !== undefined && index !== undefined) {
      return toResolved(taskAt({ split, family, level, index }));
    }
    return toResolved(sampleTask({ seed: String(request.seed), split, family, level, index }));
  } catch (error) {
    if (!(error instanceof TaskNotFound)) throw error;
    throw new ApiError('unknown_task', error.reason, { place: ['body'] });
  }
}

function resolveReset(request: ResetRequest): ResolvedTask {
  const named = resolveTask(request);
  const lot = LOT_KEYS.find((key) => request[key] !== undefined);
  if (named && lot !== undefined) {
    throw new ApiError('invalid_request', `${lot} chooses a task from the suite; leave it out, or the named task`, {
      place: ['body', lot],
    });
  }
  return named ?? drawLot(request);
}

type Start = Pick<ResetRequest, 'seed' | 'episode_id' | 'reward' | 'action_set' | 'max_turns'>;

/** Fields in a fixed order, absent ones undefined: objects of one shape are what makes a step fast. */
function startState(task: ResolvedTask, request: Start): State {
  const reward = request.reward ?? DEFAULT_PRESET;
  return {
    version: STATE_VERSION,
    suite_version: SUITE_VERSION,
    reward_version: PRESET_VERSIONS[reward],
    task_id: task.facts?.task_id,
    task: task.inline,
    episode_id: request.episode_id ?? undefined,
    seed: request.seed == null ? undefined : String(request.seed),
    reward,
    action_set: request.action_set ?? 'core',
    max_turns: request.max_turns ?? 1,
    turn: 0,
    canvas: EMPTY_CANVAS,
    selected: [],
    value: 0,
    total_reward: 0,
    stop_reason: undefined,
  };
}

function toInfo(task: ResolvedTask, state: State, turn?: { drawing: Drawing; result: RewardResult }): Info {
  return {
    seed: state.seed ?? null,
    episode_id: state.episode_id ?? null,
    task: task.facts,
    suite_version: SUITE_VERSION,
    preset: { name: state.reward, version: PRESET_VERSIONS[state.reward] },
    expectation: turn?.result.expectation ?? null,
    parse: turn?.result.parse ?? null,
    reasons: turn?.result.reasons ?? [],
    applied: turn?.drawing.apply?.applied ?? [],
    rejected: turn?.drawing.apply?.rejected ?? [],
  };
}

function toObservation(task: ResolvedTask, state: State, result?: RewardResult): Observation {
  return {
    prompt: task.scored.prompt,
    task_id: state.task_id ?? null,
    turn: state.turn,
    max_turns: state.max_turns,
    canvas_size: task.scored.canvas,
    canvas: state.canvas,
    selected: state.selected,
    errors: result?.errors ?? [],
    applied: result?.applied ?? 0,
    rejected: result?.rejected ?? 0,
    lints: computeLints(state.canvas, task.scored.canvas),
    reward_components: result?.components ?? {},
    total_reward: state.total_reward,
  };
}

/**
 * Begins an episode.
 * @throws ApiError invalid_request, unknown_task. A request for which `needsSeed` holds must bring a seed.
 */
export function reset(request: ResetRequest, signer: Signer): ResetResponse {
  const task = resolveReset(request);
  const state = startState(task, request);
  return {
    observation: toObservation(task, state),
    reward: null,
    terminated: false,
    truncated: false,
    done: false,
    info: toInfo(task, state),
    state: signer.sign(state),
  };
}

const NAMED_BY_STATE = ['task_id', 'task', 'prompt', 'reward', 'action_set'] as const;

/** The state a step goes on from, checked; a step that brings its own task starts an episode of one turn. */
function openState(request: StepRequest, signer: Signer): { state: State; task: ResolvedTask } {
  const { state } = request;
  if (!state) {
    const task = resolveTask(request);
    if (task) return { state: startState(task, request), task };
    throw new ApiError('invalid_request', 'give state, or for a single turn one of task_id, task and prompt', {
      place: ['body', 'state'],
    });
  }
  const twice = NAMED_BY_STATE.find((key) => request[key] !== undefined);
  if (twice !== undefined) {
    throw new ApiError('invalid_request', `state already holds ${twice}; leave it out`, { place: ['body', twice] });
  }
  signer.assertUnchanged(state);
  if (state.stop_reason !== undefined) {
    throw new ApiError('episode_over', `the episode is over (${state.stop_reason}); begin a new one with /reset`, {
      place: ['body', 'state', 'stop_reason'],
    });
  }
  assertCanvas(state.canvas, ['body', 'state', 'canvas'], state.reward === 'article' ? Infinity : MAX_COORDINATE);
  return { state, task: taskOfState(state) };
}

function taskOfState({ task_id, task }: State): ResolvedTask {
  if (task_id !== undefined && task === undefined) return toResolved(findTask(task_id, ['body', 'state', 'task_id']));
  if (task && task_id === undefined) return resolveInline(task, ['body', 'state', 'task']);
  throw new ApiError('invalid_request', 'state holds one of task_id and task', { place: ['body', 'state'] });
}

interface Ending {
  terminated: boolean;
  truncated: boolean;
  stop_reason: StopReason | null;
}

const GOES_ON: Ending = { terminated: false, truncated: false, stop_reason: null };
const terminated = (stop_reason: StopReason): Ending => ({ terminated: true, truncated: false, stop_reason });
const truncated = (stop_reason: StopReason): Ending => ({ terminated: false, truncated: true, stop_reason });

/** Whether and why the episode ends with this turn. The one place that says so. */
function toEnding(state: State, { apply }: Drawing, finishReason: string | null | undefined): Ending {
  if (apply?.submitted) return terminated('submitted');
  if (state.max_turns > 1) return state.turn + 1 >= state.max_turns ? truncated('max_steps') : GOES_ON;
  if (finishReason === 'length') return truncated('max_tokens');
  return terminated(apply ? 'submitted' : 'invalid_action');
}

function turnReward(state: State, value: number): number {
  return state.max_turns === 1 ? value : value - state.value - TURN_COST;
}

function nextState(state: State, drawing: Drawing, value: number, { stop_reason }: Ending): State {
  return {
    version: state.version,
    suite_version: state.suite_version,
    reward_version: state.reward_version,
    task_id: state.task_id,
    task: state.task,
    episode_id: state.episode_id,
    seed: state.seed,
    reward: state.reward,
    action_set: state.action_set,
    max_turns: state.max_turns,
    turn: state.turn + 1,
    canvas: drawing.apply?.canvas ?? state.canvas,
    selected: drawing.apply?.selected ?? state.selected,
    value,
    total_reward: state.total_reward + turnReward(state, value),
    stop_reason: stop_reason ?? undefined,
  };
}

/**
 * Takes one turn.
 * @throws ApiError invalid_request, unknown_task, state_changed, episode_over.
 */
export function step(request: StepRequest, signer: Signer): StepResponse {
  const { state, task } = openState(request, signer);
  const drawing = draw(
    toTurnOutput(request.action),
    state,
    drawOptions(state.reward, state.action_set, request.finish_reason),
  );
  const result = scoreFinite(task.scored, drawing, state.reward);
  const ending = toEnding(state, drawing, request.finish_reason);
  const next = nextState(state, drawing, result.reward, ending);
  return {
    observation: toObservation(task, next, result),
    reward: turnReward(state, result.reward),
    terminated: ending.terminated,
    truncated: ending.truncated,
    done: ending.terminated || ending.truncated,
    stop_reason: ending.stop_reason,
    info: toInfo(task, next, { drawing, result }),
    state: signer.sign(next),
  };
}
