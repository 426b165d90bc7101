/** Contenders of an evaluation: a checkpoint that samples, or the teacher. Opened once, each gives policies of any stream. */
import { CheckpointError, hasCheckpoint, loadCheckpoint } from './checkpoint.ts';
import { disposeModel } from './model/model.ts';
import { createModelPolicy, createTeacherPolicy, type PolicyOptions } from './policy.ts';
import type { Compute } from './pool/compute.ts';
import type { Policy } from './rollout.ts';
import { DEFAULT_TEACHER_OPTIONS } from './teacher/scripted.ts';

/** A policy to evaluate: a checkpoint's folder, or the teacher with its rate of faults. */
export interface Contender {
  /** `teacher`, `sft`, `rl-60`: the policy_version in the log. */
  name: string;
  plays: { checkpoint: string } | { flaw_rate: number };
}

/** How tokens are chosen; the teacher has none and takes no notice. */
export type Decoding = Omit<PolicyOptions, 'seed' | 'max_prompt_tokens'>;

export interface OpenContender {
  /** A policy that draws from the stream of `seed`; equal seeds act equally. */
  policyOf(seed: bigint, decoding: Decoding): Policy;
  dispose(): Promise<void>;
}

/** @throws CheckpointError */
export async function openContender(compute: Compute, plays: Contender['plays']): Promise<OpenContender> {
  if ('flaw_rate' in plays) {
    return {
      policyOf: (seed) => createTeacherPolicy(seed, plays.flaw_rate),
      dispose: () => Promise.resolve(),
    };
  }
  const { model, tokenizer } = loadCheckpoint(plays.checkpoint, compute.backend);
  const sampler = await compute.createSampler(model, tokenizer);
  // tasks of higher levels than a policy was made for may not fit its context: that is a failure of the policy
  const max_prompt_tokens = model.config.max_position_embeddings - 1;
  return {
    policyOf: (seed, decoding) => createModelPolicy(sampler, tokenizer, { ...decoding, max_prompt_tokens, seed }),
    dispose: async () => {
      await sampler.dispose();
      disposeModel(model);
    },
  };
}

/**
 * Contenders as a user names them: `teacher`, which answers with its usual faults, or folders of checkpoints, called by
 * the last part of their path where no two share it.
 * @throws CheckpointError where there is no checkpoint
 */
export function toContenders(policies: readonly string[]): Contender[] {
  const short = policies.map(lastPart);
  return policies.map((policy, i) => {
    if (policy === 'teacher') return { name: policy, plays: DEFAULT_TEACHER_OPTIONS };
    if (!hasCheckpoint(policy)) throw new CheckpointError(`there is no checkpoint at ${policy}`);
    const isUnique = short.filter((name) => name === short[i]).length === 1;
    return { name: isUnique ? short[i]! : policy, plays: { checkpoint: policy } };
  });
}

function lastPart(path: string): string {
  return path.split(/[/\\]/).findLast((part) => part !== '' && part !== '.') ?? path;
}
