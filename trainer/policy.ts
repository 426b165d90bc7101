/** Policies: what acts in the environment. A model that samples, or the teacher, for comparison. */
import type { Observation } from '../schemas/episode.ts';
import { createRng, hash64 } from '../schemas/seed.ts';
import type { CutSettings } from './decoding/choose.ts';
import type { GrammarSettings } from './decoding/grammar.ts';
import { cutAtStop } from './decoding/stop.ts';
import { toPolicyPrompt } from './prompt.ts';
import type { Completion, Policy } from './rollout.ts';
import type { SampledCompletion, SampleSettings } from './sample.ts';
import { createScriptedTeacher } from './teacher/scripted.ts';
import { encodePrompt, type Tokenizer } from './tokenizer.ts';

export interface PolicyOptions extends CutSettings {
  /** Divides the logits; 0 is greedy. */
  temperature: number;
  max_new_tokens: number;
  /** Texts that end a completion; its text ends before the first of them. */
  stop?: readonly string[] | undefined;
  /** Only completions that are valid are written. */
  grammar?: GrammarSettings | undefined;
  /** Prompts with more tokens than this are not read: the answer is empty and counts as cut off. Default: no limit. */
  max_prompt_tokens?: number | undefined;
  /** Names the stream of random numbers; each turn of a rollout has its own. */
  seed: bigint;
}

/** What samples: one sampler, or several in threads. */
export interface PolicySampler {
  sample(
    prompts: readonly (readonly number[])[],
    settings: SampleSettings,
    seed: bigint,
  ): SampledCompletion[] | Promise<SampledCompletion[]>;
}

/** The model's policy. Text is what the sampled ids decode to; the ids themselves are kept for training. */
export function createModelPolicy(sampler: PolicySampler, tokenizer: Tokenizer, options: PolicyOptions): Policy {
  const { seed, max_prompt_tokens = Infinity, ...rest } = options;
  const settings = { ...rest, eos_id: tokenizer.eos_id };
  let turn = 0;
  return async (observations) => {
    const prompts = encodePrompts(tokenizer, observations);
    const read = prompts.filter((prompt) => prompt.length <= max_prompt_tokens);
    const sampled = read.length === 0 ? [] : await sampler.sample(read, settings, hash64('turn', seed, turn));
    turn += 1;
    let next = 0;
    return prompts.map((prompt_ids): Completion => {
      if (prompt_ids.length > max_prompt_tokens) return { ...UNREAD, prompt_ids };
      const completion = sampled[next++]!;
      const text = cutAtStop(tokenizer.decode(completion.completion_ids), options.stop ?? []);
      return { ...completion, text, prompt_ids };
    });
  };
}

const UNREAD = { text: '', finish_reason: 'length', completion_ids: [], sampled_logprobs: [] } as const;

/** Prompts as ids; members of a group share one list. */
function encodePrompts(tokenizer: Tokenizer, observations: readonly Observation[]): number[][] {
  const known = new Map<string, number[]>();
  return observations.map((observation) => {
    const text = toPolicyPrompt(observation);
    const ids = known.get(text) ?? encodePrompt(tokenizer, text);
    known.set(text, ids);
    return ids;
  });
}

/**
 * The teacher as a policy: its first proposal for each observation, an empty text where it cannot read the prompt.
 * Members of a group get proposals of their own.
 */
export function createTeacherPolicy(seed: bigint, flaw_rate: number): Policy {
  return (observations) => {
    const asked = new Map<string, number>();
    return observations.map((observation) => {
      const task = observation.task_id ?? observation.prompt;
      const member = asked.get(task) ?? 0;
      asked.set(task, member + 1);
      const rng = createRng(hash64('teacher.policy', seed, task, member));
      const [text = ''] = createScriptedTeacher(rng, { flaw_rate }).propose(observation, 1);
      return { text, finish_reason: 'stop', prompt_ids: [], completion_ids: [], sampled_logprobs: [] };
    });
  };
}
