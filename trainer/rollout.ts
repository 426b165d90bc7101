/**
 * Rollouts: a policy acts in the environment, over HTTP, and every turn is kept as it happened.
 *
 * The server is stateless, so a group of episodes of the same task shares one /reset: each member steps from the same
 * `state`. Turns of different episodes are independent requests; only the policy's own batch holds them together.
 */
import pMap from 'p-map';
import type { Client } from '../clients/ts/index.ts';
import type { Turn } from '../clients/store/index.ts';
import type { ActionSet } from '../schemas/action.ts';
import type { Observation, State, StopReason } from '../schemas/episode.ts';
import type { Preset } from '../schemas/reward.ts';
import type { TokenBatch } from './model/layout.ts';
import type { TokenMask } from './model/token-mask.ts';

/** What a policy says to one observation. Ids and log-probs are those of the act of sampling, never recomputed. */
export interface Completion {
  text: string;
  /** `length`: cut by the token limit. The server is told, so that a cut text is never scored as a whole one. */
  finish_reason: 'stop' | 'length';
  prompt_ids: readonly number[];
  completion_ids: readonly number[];
  /** Natural log of each sampled token's probability under the sampling distribution, [T]. */
  sampled_logprobs: readonly number[];
  /** What each token could have been, where not all could: sampled_logprobs are of the distribution over these. */
  token_masks?: readonly TokenMask[];
}

/** Whether anything was sampled; nothing is where the prompt does not fit the context. */
export const hasTokens = ({ completion_ids }: Completion): boolean => completion_ids.length > 0;

/** Completions as the model computes them: what was sampled, and what could have been. */
export function toTokenBatch(completions: readonly Completion[]): TokenBatch {
  return {
    prompt_ids: completions.map(({ prompt_ids }) => prompt_ids),
    completion_ids: completions.map(({ completion_ids }) => completion_ids),
    token_masks: completions.map(({ token_masks }) => token_masks),
  };
}

/** One completion for each observation, in order. */
export type Policy = (observations: readonly Observation[]) => Completion[] | Promise<Completion[]>;

/** A turn with what the policy sampled; the log's row of it is made by clients/store. */
export interface PolicyTurn extends Turn {
  completion: Completion;
  reward: number;
}

/** What a script does in the first turn of an episode, before the policy is asked: the text of its completion. */
export type Opening = (observation: Observation) => string;

export interface Trajectory {
  task_id: string;
  /** Names the group within its rollout. */
  group_id: string;
  /** Place within the group, from 0. */
  member: number;
  /** The turn that a script played before the policy's; nothing of it is trained on. */
  opening?: Turn;
  /** The policy's turns. */
  turns: PolicyTurn[];
  terminated: boolean;
  truncated: boolean;
  stop_reason: StopReason;
  /** Sum of the rewards of all turns. */
  episode_return: number;
}

export interface RolloutOptions {
  reward: Preset;
  action_set: ActionSet;
  max_turns: number;
  /** Episodes of each task. */
  group_size: number;
  /** Plays the first turn of every episode; a group shares it, so its members meet the same canvas. */
  opening?: Opening | undefined;
  /** What the policy reads in place of a task's prompt; a group shares it. The task, and its reward, stay what they are. */
  rewordPrompt?: ((prompt: string, group: number) => string) | undefined;
}

/** Requests in flight at a time. */
const CONCURRENCY = 64;

interface Episode {
  /** The prompt as the policy reads it. */
  prompt: string;
  trajectory: Omit<Trajectory, 'stop_reason'> & { stop_reason: StopReason | null };
  observation: Observation;
  state: State;
}

/**
 * Plays `group_size` episodes of each task to their end.
 * Answers the trajectories group by group, in the order of the tasks.
 * @throws the client's error where the server does not answer after its retries; nothing is returned then.
 */
export async function rollout(
  client: Client,
  policy: Policy,
  taskIds: readonly string[],
  options: RolloutOptions,
): Promise<Trajectory[]> {
  const groups = await pMap(taskIds, (taskId, g) => startGroup(client, taskId, g, options), {
    concurrency: CONCURRENCY,
  });
  const episodes = groups.flat();
  for (let active = episodes; active.length > 0; active = active.filter(isGoingOn)) {
    const completions = await policy(active.map((episode) => episode.observation));
    await pMap(active, (episode, i) => stepEpisode(client, episode, completions[i]!), { concurrency: CONCURRENCY });
  }
  return episodes.map(({ trajectory }) => ({ ...trajectory, stop_reason: trajectory.stop_reason ?? 'error' }));
}

function isGoingOn({ trajectory }: Episode): boolean {
  return !trajectory.terminated && !trajectory.truncated;
}

async function startGroup(
  client: Client,
  taskId: string,
  index: number,
  { reward, action_set, max_turns, group_size, opening, rewordPrompt }: RolloutOptions,
): Promise<Episode[]> {
  const start = await client.reset({ task_id: taskId, reward, action_set, max_turns });
  const opened = opening && (await playOpening(client, start, opening));
  const { observation, state } = opened ?? start;
  const prompt = rewordPrompt?.(observation.prompt, index) ?? observation.prompt;
  return Array.from({ length: group_size }, (_, member) => ({
    prompt,
    observation: { ...observation, prompt },
    state,
    trajectory: {
      task_id: taskId,
      group_id: `${index}:${taskId}`,
      member,
      ...(opened && { opening: opened.turn }),
      turns: [],
      terminated: false,
      truncated: false,
      stop_reason: null,
      episode_return: opened?.turn.reward ?? 0,
    },
  }));
}

/** @throws Error where the episode ends with the opening: it leaves the policy nothing to do */
async function playOpening(client: Client, start: { observation: Observation; state: State }, opening: Opening) {
  const text = opening(start.observation);
  const answer = await client.step({ state: start.state, action: text });
  if (answer.terminated || answer.truncated) throw new Error('the episode ended with its opening: give it more turns');
  const { observation, state, reward, info } = answer;
  const turn = { observation: start.observation, completion: { text }, reward, next_observation: observation, info };
  return { observation, state, turn };
}

async function stepEpisode(client: Client, episode: Episode, completion: Completion): Promise<void> {
  const { text, finish_reason } = completion;
  const answer = await client.step({ state: episode.state, action: text, finish_reason });
  const next_observation = { ...answer.observation, prompt: episode.prompt };
  const { trajectory } = episode;
  trajectory.turns.push({
    observation: episode.observation,
    completion,
    reward: answer.reward,
    next_observation,
    info: answer.info,
  });
  trajectory.episode_return += answer.reward;
  trajectory.terminated = answer.terminated;
  trajectory.truncated = answer.truncated;
  trajectory.stop_reason = answer.stop_reason;
  episode.observation = next_observation;
  episode.state = answer.state;
}
