/**
 * Presets: sets of settings for a whole run. `quick` is the defaults, a run of minutes on short tasks; `full` is about an hour on
 * two cores for levels 1 to 3, any label and prompts in many wordings. What each setting gave is in LOG.md.
 */
import { z } from 'zod';
import type { Presets, SettingsSchema } from '../schemas/settings.ts';
import type { EvaluateSettings } from './stages/evaluate.ts';
import type { ReinforceSettings } from './stages/reinforce.ts';
import type { SftStageSettings } from './stages/sft.ts';
import type { TeachSettings } from './stages/teach.ts';

type TrainingSettings = TeachSettings & SftStageSettings & ReinforceSettings & EvaluateSettings;

type Frozen<T> = T extends readonly (infer I)[] ? readonly I[] : T;

export const TRAINING_PRESETS = {
  quick: {},
  full: {
    levels: [1, 2, 3],
    // teach: structures are what differs between examples; names and wordings are rewritten at each use
    tasks: 9600,
    samples: 2,
    flaw_rate: 0.1,
    // sft
    layers: 4,
    context: 4096, // prompts of test_real take up to 2,170 tokens
    batch_size: 8,
    max_tokens: 12_000_000,
    rename_share: 0.9,
    made_up_share: 0.7,
    reword_share: 0.5,
    ramp_tokens: 2_000_000,
    tokenizer_words: 700,
    tokenizer_pieces: 400,
    warmup_steps: 100,
    sft_validate_every: 250,
    sft_checkpoint_every: 250,
    // reinforce
    curriculum: true,
    rl_reword_share: 0.5,
    steps: 300,
    max_new_tokens: 400,
    length_divisor: 150,
    // evaluate
    split: ['test_iid', 'test_vocab', 'test_template', 'test_family', 'test_level', 'test_real'],
    eval_max_new_tokens: 800,
  },
} as const satisfies Record<string, { readonly [K in keyof TrainingSettings]?: Frozen<TrainingSettings[K]> }>;

const NAMES = Object.keys(TRAINING_PRESETS) as [keyof typeof TRAINING_PRESETS, ...(keyof typeof TRAINING_PRESETS)[]];

export const PRESET_SETTING = {
  preset: z
    .enum(NAMES)
    .default('quick')
    .describe('Set of defaults: quick in minutes, full in about an hour on 2 cores'),
};

/** What the presets say of a command's settings. */
export function presetsFor(schema: SettingsSchema): Presets {
  const known = new Set(Object.keys(schema.shape));
  return Object.fromEntries(
    Object.entries(TRAINING_PRESETS).map(([name, values]) => [
      name,
      Object.fromEntries(Object.entries(values).filter(([key]) => known.has(key))),
    ]),
  );
}
