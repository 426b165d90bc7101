/**
 * The optimizer: Muon for matrices, AdamW for the embedding and the gains (or for all), on one clipped gradient.
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
  /** What updates the matrices; with `adamw` they take its rates, as everything else does. */
  readonly matrices: 'muon' | 'adamw';
  /** Step size of matrices, relative to their orthogonal update. */
  readonly muon_lr: number;
  readonly muon_momentum: number;
  /** Newton-Schulz iterations. */
  readonly muon_iterations: number;
  /** Step size of embedding and gains, and of matrices that are AdamW's. */
  readonly adamw_lr: number;
  readonly adamw_beta1: number;
  readonly adamw_beta2: number;
  readonly adamw_epsilon: number;
  /** Largest global norm of the gradient; larger ones are scaled to it. */
  readonly clip_norm: number;
}

export const DEFAULT_OPTIMIZER_SETTINGS: OptimizerSettings = {
  matrices: 'muon',
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

/** Directions of Muon, each orthogonalised as a matrix of its own, in their order. The caller disposes what it gave and got. */
export type Orthogonalise = (directions: readonly tf.Tensor2D[], iterations: number) => Promise<tf.Tensor2D[]>;

/** @param orthogonaliseAll Who does Muon's products; without it this thread. */
export function createOptimizer(
  model: Model,
  settings: OptimizerSettings = DEFAULT_OPTIMIZER_SETTINGS,
  orthogonaliseAll: Orthogonalise = orthogonaliseHere(model.backend.ops),
): Optimizer {
  const specs = parameterSpecs(model.config);
  const moments = createMoments(specs, settings);
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
      const update = { model, settings, specs, moments, step, lrFactor, orthogonaliseAll };
      if (isFinite) await updateAll(update, gradients, norm);
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

type Moments = ReadonlyMap<string, tf.Variable>;

/** Muon keeps `momentum/`, AdamW `mean/` and `square/` of each of its parameters. */
function createMoments(specs: readonly ParameterSpec[], settings: OptimizerSettings): Moments {
  const moments = new Map<string, tf.Variable>();
  for (const spec of specs) {
    const names = isMuons(spec, settings) ? ['momentum'] : ['mean', 'square'];
    for (const name of names) {
      const zeros = tf.zeros([...spec.shape]);
      moments.set(`${name}/${spec.name}`, tf.variable(zeros, /* trainable */ false));
      zeros.dispose();
    }
  }
  return moments;
}

function isMuons(spec: ParameterSpec, { matrices }: OptimizerSettings): boolean {
  return spec.kind === 'matrix' && matrices === 'muon';
}

function restoreMoments(moments: Moments, values: ReadonlyMap<string, Float32Array>): void {
  for (const [name, moment] of moments) {
    const saved = values.get(name);
    if (saved?.length !== moment.size) throw new Error(`the saved optimizer has no fitting ${name}`);
    const value = tf.tensor(saved, moment.shape, 'float32');
    moment.assign(value);
    value.dispose();
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
  readonly orthogonaliseAll: Orthogonalise;
}

async function updateAll(update: Update, gradients: ReadonlyMap<string, tf.Tensor>, norm: number): Promise<void> {
  const { settings, specs } = update;
  const scale = Math.min(1, settings.clip_norm / (norm + 1e-6));
  const muons = specs.filter((spec) => isMuons(spec, settings));
  for (const spec of specs.filter((one) => !isMuons(one, settings))) {
    assign(update, spec, (weight) => adamw(update, spec, weight, gradients.get(spec.name)!, scale));
  }
  const directions = muons.map((spec) => tf.tidy(() => muonDirections(update, spec, gradients.get(spec.name)!, scale)));
  const changes = await update.orthogonaliseAll(directions.flat(), settings.muon_iterations);
  tf.dispose(directions);
  let next = 0;
  for (const spec of muons) {
    const own = changes.slice(next, (next += spec.parts.length));
    assign(update, spec, (weight) => muon(update, spec, weight, own));
  }
  tf.dispose(changes);
}

function assign({ model }: Update, spec: ParameterSpec, next: (weight: tf.Tensor) => tf.Tensor): void {
  const variable = model.parameters.get(spec.name)!;
  tf.tidy(() => {
    variable.assign(next(variable));
  });
}

/** M = mu M + G with G = scale * gradient; answers G + mu M (Nesterov), part by part. */
function muonDirections(
  { settings, moments }: Update,
  spec: ParameterSpec,
  gradient: tf.Tensor,
  scale: number,
): tf.Tensor2D[] {
  const mu = settings.muon_momentum;
  const momentum = moments.get(`momentum/${spec.name}`)!;
  const scaled = tf.mul(gradient, scale);
  momentum.assign(tf.add(tf.mul(momentum, mu), scaled));
  const widths = spec.parts.map((part) => part.columns);
  return tf.split<tf.Tensor2D>(tf.add(scaled, tf.mul(momentum, mu)), widths, 1);
}

/** W - lr sqrt(max(1, out/in)) O for each part of the weight and its orthogonalised direction O. */
function muon(
  { settings, lrFactor }: Update,
  spec: ParameterSpec,
  weight: tf.Tensor,
  orthogonal: readonly tf.Tensor2D[],
): tf.Tensor {
  const rows = spec.shape[0]!;
  const changes = orthogonal.map((part) =>
    tf.mul(part, settings.muon_lr * lrFactor * Math.sqrt(Math.max(1, part.shape[1] / rows))),
  );
  return tf.sub(weight, changes.length === 1 ? changes[0]! : tf.concat(changes, 1));
}

function orthogonaliseHere(ops: Ops): Orthogonalise {
  return (directions, iterations) =>
    Promise.resolve(directions.map((direction) => tf.tidy(() => orthogonalise(direction, iterations, ops))));
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
    const gram = ops.matmul(X, X, !isWide, isWide);
    const polynomial = tf.add<tf.Tensor2D>(tf.mul(gram, B), tf.mul(ops.matmul(gram, gram, false, false), C));
    const product = isWide ? ops.matmul(polynomial, X, false, false) : ops.matmul(X, polynomial, false, false);
    X = tf.add(tf.mul(X, A), product);
  }
  return X;
}

function adamw(update: Update, spec: ParameterSpec, weight: tf.Tensor, gradient: tf.Tensor, scale: number): tf.Tensor {
  const { model, settings, moments, step, lrFactor } = update;
  const { adamw_beta1: beta1, adamw_beta2: beta2, adamw_epsilon: epsilon, adamw_lr: lr } = settings;
  const state = { mean: moments.get(`mean/${spec.name}`)!, square: moments.get(`square/${spec.name}`)! };
  const rate = (lr * lrFactor) / (1 - beta1 ** step);
  const correction = 1 / (1 - beta2 ** step);
  return model.backend.ops.adamw(weight, gradient, state, { scale, beta1, beta2, rate, correction, epsilon });
}
