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
  const { seed, ...rest } = options;
  const settings = { ...rest, eos_id: tokenizer.eos_id };
  let turn = 0;
  return async (observations) => {
    const prompts = encodePrompts(tokenizer, observations);
    const sampled = await sampler.sample(prompts, settings, hash64('turn', seed, turn++));
    return sampled.map((completion, i): Completion => {
      const text = cutAtStop(tokenizer.decode(completion.completion_ids), options.stop ?? []);
      return { ...completion, text, prompt_ids: prompts[i]! };
    });
  };
}

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

/** The teacher as a policy: its first proposal for each observation, an empty text where it cannot read the prompt. */
export function createTeacherPolicy(seed: number, flaw_rate: number): Policy {
  return (observations) =>
    observations.map((observation) => {
      const rng = createRng(hash64('teacher.policy', seed, observation.task_id ?? observation.prompt));
      const [text = ''] = createScriptedTeacher(rng, { flaw_rate }).propose(observation, 1);
      return { text, finish_reason: 'stop', prompt_ids: [], completion_ids: [], sampled_logprobs: [] };
    });
}
