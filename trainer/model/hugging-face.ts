/**
 * The decoder's configuration and weights as transformers keeps them: config.json of `Qwen3ForCausalLM`, and weights under
 * its names in torch's [out, in] order. Folders written by transformers 4 and 5 are read alike. Left out: whatever asks
 * for another architecture (Llama's has no norm on queries and keys), which is refused by the name of the key.
 */
import type { Backend } from '../backend.ts';
import { ModelConfig } from './config.ts';
import { buildModel, readParameter, type Model } from './model.ts';
import { parameterSpecs, type ParameterSpec } from './parameters.ts';
import type { NamedArray } from './safetensors.ts';

type Json = Readonly<Record<string, unknown>>;

const CONFIG_KEYS = Object.keys(ModelConfig.shape);
/** transformers' default of Qwen3Config, for a file that leaves it out. */
const DEFAULT_HEAD_DIM = 128;

/** What this decoder does where a config.json could ask for something else, and what a file without the key means. */
const FIXED: readonly (readonly [key: string, value: unknown, absent: unknown])[] = [
  ['model_type', 'qwen3', undefined],
  ['tie_word_embeddings', true, false],
  ['attention_bias', false, false],
  ['hidden_act', 'silu', 'silu'],
  ['use_sliding_window', false, false],
  ['quantization_config', null, null],
];

/** Contents of config.json. */
export function toHfConfig(config: ModelConfig, specialIds: object): object {
  return {
    architectures: ['Qwen3ForCausalLM'],
    model_type: 'qwen3',
    ...config,
    ...specialIds,
    hidden_act: 'silu',
    attention_bias: false,
    attention_dropout: 0,
    tie_word_embeddings: true,
    use_cache: true,
    use_sliding_window: false,
    torch_dtype: 'float32',
  };
}

/** @throws Error naming the first key that asks for what this decoder does not do, or that is missing */
export function fromHfConfig(config: Json): ModelConfig {
  for (const [key, value, absent] of FIXED) assertValue(key, config[key] ?? absent, value);
  const layers = config['layer_types'];
  if (Array.isArray(layers)) for (const type of layers) assertValue('layer_types', type, 'full_attention');
  const rope = ropeOf(config);
  assertValue('rope_type', rope['rope_type'] ?? rope['type'] ?? 'default', 'default');
  assertValue('partial_rotary_factor', rope['partial_rotary_factor'] ?? 1, 1);
  const found: Json = { head_dim: DEFAULT_HEAD_DIM, rope_theta: rope['rope_theta'], ...defined(config) };
  const parsed = ModelConfig.safeParse(Object.fromEntries(CONFIG_KEYS.map((key) => [key, found[key]])));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new Error(`${issue!.path.join('.') || 'config'}: ${issue!.message}`);
}

/** transformers 5 writes `rope_parameters`; 4 wrote `rope_theta`, and `rope_scaling` where there was one. */
function ropeOf(config: Json): Json {
  const rope = config['rope_parameters'] ?? config['rope_scaling'];
  return typeof rope === 'object' && rope !== null ? (rope as Json) : {};
}

function defined(config: Json): Record<string, unknown> {
  return Object.fromEntries(Object.entries(config).filter(([, value]) => value !== null));
}

function assertValue(key: string, found: unknown, wanted: unknown): void {
  if (found === wanted) return;
  const said = found === undefined ? 'missing' : JSON.stringify(found);
  throw new Error(`${key} is ${said}, and only ${JSON.stringify(wanted)} can be loaded`);
}

/** Weights under transformers' names and in torch's [out, in] order. */
export async function toHfWeights(model: Model): Promise<Map<string, NamedArray>> {
  const weights = new Map<string, NamedArray>();
  for (const spec of parameterSpecs(model.config)) {
    const values = await readParameter(model, spec.name);
    if (spec.kind !== 'matrix') {
      weights.set(spec.parts[0]!.hfName, { shape: spec.shape, values });
      continue;
    }
    forEachPart(spec, (hfName, offset, columns) => {
      const [rows, width] = spec.shape as [number, number];
      const part = new Float32Array(rows * columns);
      for (let column = 0; column < columns; column++) {
        for (let row = 0; row < rows; row++) part[column * rows + row] = values[row * width + offset + column]!;
      }
      weights.set(hfName, { shape: [columns, rows], values: part });
    });
  }
  return weights;
}

function forEachPart(spec: ParameterSpec, visit: (hfName: string, offset: number, columns: number) => void): void {
  let offset = 0;
  for (const { hfName, columns } of spec.parts) {
    visit(hfName, offset, columns);
    offset += columns;
  }
}

/** @throws Error naming the weight that is missing or has another shape than the configuration wants */
export function fromHfWeights(config: ModelConfig, backend: Backend, weights: ReadonlyMap<string, NamedArray>): Model {
  return buildModel(config, backend, (spec, size) => {
    if (spec.kind !== 'matrix') return takeWeight(weights, spec.parts[0]!.hfName, spec.shape);
    const [rows, width] = spec.shape as [number, number];
    const values = new Float32Array(size);
    forEachPart(spec, (hfName, offset, columns) => {
      const part = takeWeight(weights, hfName, [columns, rows]);
      for (let column = 0; column < columns; column++) {
        for (let row = 0; row < rows; row++) values[row * width + offset + column] = part[column * rows + row]!;
      }
    });
    return values;
  });
}

function takeWeight(weights: ReadonlyMap<string, NamedArray>, name: string, shape: readonly number[]): Float32Array {
  const found = weights.get(name);
  if (!found) throw new Error(`${name} is missing`);
  if (found.shape.join() !== shape.join()) {
    throw new Error(`${name} is [${found.shape.join(', ')}], the configuration wants [${shape.join(', ')}]`);
  }
  return found.values;
}
