/** What the trainer's threads are asked to do, and what they answer. Arrays of weights and gradients go by shared memory. */
import type { ModelConfig } from '../model/config.ts';
import type { ForwardOptions, LossBatch, TokenStatistics } from '../model/loss.ts';
import type { LossSpec } from '../losses.ts';
import type { SampledCompletion, SampleSettings } from '../sample.ts';
import type { TokenBatch } from '../model/layout.ts';
import type { Tokenizer } from '../tokenizer.ts';

/** A model as a thread needs it: its configuration and its weights of now. */
export interface SharedModel {
  readonly config: ModelConfig;
  readonly weights: SharedArrayBuffer;
}

/** What a tokenizer is made from again. */
export type TokenizerFiles = Pick<Tokenizer, 'json' | 'config_json'>;

export interface Jobs {
  /** The gradients of a part of a batch go to the memory `gradients`. */
  gradients: {
    request: {
      model: SharedModel;
      batch: LossBatch;
      loss: LossSpec;
      options: ForwardOptions;
      gradients: SharedArrayBuffer;
    };
    answer: TokenStatistics & { loss: number };
  };
  logprobs: { request: { model: SharedModel; batch: TokenBatch; options: ForwardOptions }; answer: TokenStatistics };
  /** Orthogonalises matrices, which lie one after another in the memory `matrices`, in their place. */
  orthogonalise: {
    request: { shapes: readonly (readonly [number, number])[]; iterations: number; matrices: SharedArrayBuffer };
    answer: undefined;
  };
  /** Packs weights for sampling under a number, until they are dropped. */
  pack: { request: { sampler: number; model: SharedModel; tokenizer: TokenizerFiles | undefined }; answer: undefined };
  drop: { request: { sampler: number }; answer: undefined };
  sample: {
    request: {
      sampler: number;
      prompts: readonly (readonly number[])[];
      settings: SampleSettings;
      seed: bigint;
      firstRow: number;
    };
    answer: SampledCompletion[];
  };
}

export type JobName = keyof Jobs;
export type Request<N extends JobName> = Jobs[N]['request'];
export type Answer<N extends JobName> = Jobs[N]['answer'];

export type ToThread = { [N in JobName]: { id: number; name: N; request: Request<N> } }[JobName];
export type FromThread = 'ready' | { id: number; answer: Answer<JobName> } | { id: number; error: unknown };
