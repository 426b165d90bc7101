/** What a reward answer looks like: the number, the preset that gave it, its components, and why points were lost. */
import { z } from 'zod';

export const PRESETS = ['weak', 'article', 'stronger', 'graded'] as const;
export const Preset = z.enum(PRESETS);
export type Preset = z.infer<typeof Preset>;
export const DEFAULT_PRESET: Preset = 'graded';

/** A change that moves any reward raises the version. */
export const PRESET_VERSIONS: Readonly<Record<Preset, number>> = { weak: 1, article: 1, stronger: 1, graded: 1 };

export const PresetRef = z.strictObject({ name: Preset, version: z.number().int() });
export type PresetRef = z.infer<typeof PresetRef>;

/** A fault of model output, found while parsing (no index) or executing (index of the action). */
export const ActionError = z.strictObject({
  code: z.string().describe('Stable code, for programs'),
  message: z.string().describe('Text for the model'),
  index: z.number().int().min(0).optional().describe('Position in the list of actions'),
});
export type ActionError = z.infer<typeof ActionError>;

/** Why points were lost, largest loss first. */
export const Reason = z.strictObject({
  component: z.string().describe('Name of the component that lost points'),
  code: z.string().describe('Stable code, for programs'),
  message: z.string().describe('What to change'),
  lost: z.number().min(0).max(1).describe('Reward lost to it, estimated with everything else kept'),
});
export type Reason = z.infer<typeof Reason>;

/** Every component of a preset is always present, so that columns never change: numbers in [0, 1]. */
export const Components = z.record(z.string(), z.number());
export type Components = z.infer<typeof Components>;

/** Whether the reward knew what to look for: the task's expectation, or only the prompt's words. */
export const ExpectationSource = z.enum(['task', 'none']);
export type ExpectationSource = z.infer<typeof ExpectationSource>;

/** How the completion was read; see server/canvas/parse.ts. */
export const ParseInfo = z.strictObject({
  outcome: z.enum(['strict', 'extracted', 'repaired', 'none']).describe('How the JSON was found in the text'),
  candidates: z.number().int().min(0).describe('Complete JSON objects in the text; the last with actions counts'),
  truncated: z.boolean().describe('The text ends inside the JSON, or finish_reason was length'),
  duplicate_keys: z.boolean().describe('A key occurs twice in one object; the last one counts'),
});
export type ParseInfo = z.infer<typeof ParseInfo>;

export const RewardResult = z.strictObject({
  reward: z.number().min(0).max(1),
  preset: PresetRef,
  components: Components,
  reasons: z.array(Reason),
  errors: z.array(ActionError),
  applied: z.number().int().min(0).describe('Actions that changed the canvas'),
  rejected: z.number().int().min(0).describe('Actions that were refused'),
  expectation: ExpectationSource,
  parse: ParseInfo,
});
export type RewardResult = z.infer<typeof RewardResult>;

/** Names of the held-out measures, in the order they are told. */
export const HELD_OUT_MEASURES = ['path_f1', 'graph_edit_similarity', 'renamed_reward'] as const;
export type HeldOutMeasure = (typeof HELD_OUT_MEASURES)[number];

/** Measures of a drawing that no reward holds, for evaluation and never for training; see server/reward/held-out.ts. */
export const HeldOut = z.strictObject({
  path_f1: z.number().min(0).max(1).describe('Do the arrows lead where they should: F1 over reachable pairs of nodes'),
  graph_edit_similarity: z.number().min(0).max(1).describe('1 less the share of the expected graph to be corrected'),
  renamed_reward: z.number().min(0).max(1).describe('The reward after the labels of task and drawing are renamed'),
});
export type HeldOut = z.infer<typeof HeldOut>;
