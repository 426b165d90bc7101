/**
 * The optimizer: Muon for matrices, AdamW for the embedding and the gains, on one clipped gradient.
 *
 * Muon (Jordan et al., "Muon: An optimizer for hidden layers in neural networks", 2024) steps along the gradient with
 * all its singular values pushed towards 1 by Newton-Schulz iterations, each of query, key, value, output, gate, up and
 * down as a matrix of its own. It is what makes the tiny preset learn to copy within few tokens.
 * AdamW: Loshchilov, Hutter 2019, decay 0 here.
 */
import * as tf from '@tensorflow/tfjs-core';
import type { Model } from './model/model.ts';
import type { Ops } from './model/ops.ts';
import { parameterSpecs } from './model/parameters.ts';
import type { ParameterSpec } from './model/parameters.ts';

export interface OptimizerSettings {
  /** Step size of matrices, relative to their orthogonal update. */
  readonly muon_lr: number;
  readonly muon_momentum: number;
  /** Newton-Schulz iterations. */
  readonly muon_iterations: number;
  /** Step size of embedding and gains. */
  readonly adamw_lr: number;
  readonly adamw_beta1: number;
  readonly adamw_beta2: number;
  readonly adamw_epsilon: number;
  /** Largest global norm of the gradient; larger ones are scaled to it. */
  readonly clip_norm: number;
}

export const DEFAULT_OPTIMIZER_SETTINGS: OptimizerSettings = {
  muon_lr: 0.02,
  muon_momentum: 0.95,
  muon_iterations: 3,
  adamw_lr: 2e-3,
  adamw_beta1: 0.9,
  adamw_beta2: 0.999,
  adamw_epsilon: 1e-8,
  clip_norm: 1,
};

export interface StepResult {
  /** Global norm before clipping. */
  readonly grad_norm: number;
  /** True if the gradient was not finite: weights and moments are as before. */
  readonly skipped: boolean;
}

/** Everything a resumed run needs, as plain arrays by `<moment>/<parameter>`. */
export interface OptimizerState {
  readonly counters: { readonly optimizer_step: number; readonly skipped_steps: number };
  readonly moments: ReadonlyMap<string, Float32Array>;
}

export interface Optimizer {
  /** Steps taken, without the skipped ones. */
  readonly optimizer_step: number;
  readonly skipped_steps: number;
  /** Takes one step with rates multiplied by `lrFactor`, and disposes the gradients. */
  apply(gradients: ReadonlyMap<string, tf.Tensor>, lrFactor: number): Promise<StepResult>;
  save(): Promise<OptimizerState>;
  restore(state: OptimizerState): void;
  dispose(): void;
}

export function createOptimizer(model: Model, settings: OptimizerSettings = DEFAULT_OPTIMIZER_SETTINGS): Optimizer {
  const specs = parameterSpecs(model.config);
  const moments = createMoments(specs);
  let step = 0;
  let skipped = 0;
  return {
    get optimizer_step() {
      return step;
    },
    get skipped_steps() {
      return skipped;
    },
    apply: async (gradients, lrFactor) => {
      const norm = await computeGlobalNorm(gradients);
      const isFinite = Number.isFinite(norm);
      if (isFinite) step++;
      else skipped++;
      if (isFinite) updateAll({ model, settings, specs, moments, step, lrFactor }, gradients, norm);
      tf.dispose([...gradients.values()]);
      return { grad_norm: norm, skipped: !isFinite };
    },
    save: async () => {
      const copies = new Map<string, Float32Array>();
      for (const [name, tensor] of moments) copies.set(name, Float32Array.from(await tensor.data<'float32'>()));
      return { counters: { optimizer_step: step, skipped_steps: skipped }, moments: copies };
    },
    restore: (state) => {
      restoreMoments(moments, state.moments);
      step = state.counters.optimizer_step;
      skipped = state.counters.skipped_steps;
    },
    dispose: () => {
      tf.dispose([...moments.values()]);
    },
  };
}

type Moments = Map<string, tf.Tensor>;

/** Muon keeps `momentum/`, AdamW `mean/` and `square/` of each of its parameters. */
function createMoments(specs: readonly ParameterSpec[]): Moments {
  const names = specs.flatMap((spec) =>
    momentNames(spec).map((name): [string, tf.Tensor] => [name, tf.zeros([...spec.shape])]),
  );
  return new Map(names);
}

function momentNames(spec: ParameterSpec): string[] {
  return spec.kind === 'matrix' ? [`momentum/${spec.name}`] : [`mean/${spec.name}`, `square/${spec.name}`];
}

function restoreMoments(moments: Moments, values: ReadonlyMap<string, Float32Array>): void {
  for (const [name, tensor] of moments) {
    const saved = values.get(name);
    if (saved?.length !== tensor.size) throw new Error(`the saved optimizer has no fitting ${name}`);
    moments.set(name, tf.tensor(saved, tensor.shape, 'float32'));
    tensor.dispose();
  }
}

async function computeGlobalNorm(gradients: ReadonlyMap<string, tf.Tensor>): Promise<number> {
  const squares = tf.tidy(() => tf.stack([...gradients.values()].map((gradient) => tf.sum(tf.square(gradient)))));
  const values = await squares.data<'float32'>();
  squares.dispose();
  return Math.sqrt(values.reduce((a, b) => a + b, 0));
}

interface Update {
  readonly model: Model;
  readonly settings: OptimizerSettings;
  readonly specs: readonly ParameterSpec[];
  readonly moments: Moments;
  readonly step: number;
  readonly lrFactor: number;
}

function updateAll(update: Update, gradients: ReadonlyMap<string, tf.Tensor>, norm: number): void {
  const scale = Math.min(1, update.settings.clip_norm / (norm + 1e-6));
  for (const spec of update.specs) {
    const variable = update.model.parameters.get(spec.name)!;
    tf.tidy(() => {
      const gradient = tf.mul(gradients.get(spec.name)!, scale);
      const change = spec.kind === 'matrix' ? muon(update, spec, gradient) : adamw(update, spec, gradient);
      variable.assign(tf.sub(variable, change));
    });
  }
}

/** Replaces a moment by a new value, which is returned. */
function setMoment(moments: Moments, name: string, value: tf.Tensor): tf.Tensor {
  moments.get(name)!.dispose();
  moments.set(name, tf.keep(value));
  return value;
}

/** M = mu M + G; change = lr sqrt(max(1, out/in)) orthogonalise(G + mu M), part by part. */
function muon({ model, settings, moments, lrFactor }: Update, spec: ParameterSpec, gradient: tf.Tensor): tf.Tensor {
  const { muon_momentum: mu, muon_lr: rate, muon_iterations: iterations } = settings;
  const name = `momentum/${spec.name}`;
  const momentum = setMoment(moments, name, tf.add(tf.mul(moments.get(name)!, mu), gradient));
  const direction = tf.add(gradient, tf.mul(momentum, mu)); // Nesterov
  const rows = spec.shape[0]!;
  const parts = tf.split<tf.Tensor2D>(
    direction,
    spec.parts.map((part) => part.columns),
    1,
  );
  const changes = parts.map((part) => {
    const scale = rate * lrFactor * Math.sqrt(Math.max(1, part.shape[1] / rows));
    return tf.mul(orthogonalise(part, iterations, model.backend.ops), scale);
  });
  return changes.length === 1 ? changes[0]! : tf.concat(changes, 1);
}

/** Coefficients of the quintic Newton-Schulz iteration, chosen by Jordan for speed near 0, not for convergence to 1. */
const [A, B, C] = [3.4445, -4.775, 2.0315];

/**
 * About U V' of the singular value decomposition U S V' of x: X = x / |x|; repeat X = A X + (B G + C G G) X with
 * G = X X', on the shorter side.
 */
export function orthogonalise(x: tf.Tensor2D, iterations: number, ops: Ops): tf.Tensor2D {
  const isWide = x.shape[0] <= x.shape[1];
  let X = tf.div<tf.Tensor2D>(x, tf.add(tf.norm(x), 1e-7));
  for (let i = 0; i < iterations; i++) {
    const turned = ops.transpose(X);
    const gram = isWide ? tf.matMul(X, turned) : tf.matMul(turned, X);
    const polynomial = tf.add(tf.mul(gram, B), tf.mul(tf.matMul(gram, gram), C));
    X = tf.add(tf.mul(X, A), isWide ? tf.matMul(polynomial, X) : tf.matMul(X, polynomial));
  }
  return X;
}

/** m = b1 m + (1 - b1) g; v = b2 v + (1 - b2) g^2; change = lr m / (1 - b1^t) / (sqrt(v / (1 - b2^t)) + epsilon). */
function adamw({ settings, moments, step, lrFactor }: Update, spec: ParameterSpec, gradient: tf.Tensor): tf.Tensor {
  const { adamw_beta1: beta1, adamw_beta2: beta2, adamw_epsilon: epsilon, adamw_lr: rate } = settings;
  const blend = (name: string, beta: number, value: tf.Tensor): tf.Tensor =>
    setMoment(moments, name, tf.add(tf.mul(moments.get(name)!, beta), tf.mul(value, 1 - beta)));
  const mean = blend(`mean/${spec.name}`, beta1, gradient);
  const square = blend(`square/${spec.name}`, beta2, tf.square(gradient));
  const corrected = tf.add(tf.sqrt(tf.div(square, 1 - beta2 ** step)), epsilon);
  return tf.div(tf.mul(mean, (rate * lrFactor) / (1 - beta1 ** step)), corrected);
}
