/** A task: the prompt an agent sees, and what a correct diagram of it holds (`expect`, which never leaves the server). */
import { z } from 'zod';
import { ShapeKind } from './action.ts';
import { CanvasSize } from './canvas.ts';
import { MAX_PROMPT_LENGTH } from './completion.ts';

export const FAMILIES = [
  'architecture',
  'flowchart',
  'pipeline',
  'org_tree',
  'state_machine',
  'er',
  'network',
  'cycle',
  'timeline',
  'comparison',
] as const;
export const Family = z.enum(FAMILIES);
export type Family = z.infer<typeof Family>;

export const SPLITS = [
  'train',
  'val',
  'test_iid',
  'test_vocab',
  'test_template',
  'test_family',
  'test_level',
  'test_real',
  'test_adversarial',
] as const;
export const Split = z.enum(SPLITS);
export type Split = z.infer<typeof Split>;

export const LEVELS = [1, 2, 3, 4, 5] as const;
export const Level = z.union(LEVELS.map((level) => z.literal(level)));
export type Level = (typeof LEVELS)[number];

/** Reading direction a task may ask for. */
export const Direction = z.enum(['right', 'left', 'down', 'up']);
export type Direction = z.infer<typeof Direction>;

const Label = z.string().min(1).max(500);
const NodeId = z.string().min(1).max(200);

export const ExpectedNode = z.strictObject({
  id: NodeId,
  label: Label,
  aliases: z.array(Label).max(20).optional().describe('Other labels that count as equal'),
  shape: ShapeKind.optional().describe('Only where the task asks for one'),
});
export type ExpectedNode = z.infer<typeof ExpectedNode>;

export const ExpectedEdge = z.strictObject({
  from: NodeId.describe('Node id'),
  to: NodeId.describe('Node id'),
  label: z.string().max(500).optional(),
  directed: z.boolean().optional().describe('Default true'),
});
export type ExpectedEdge = z.infer<typeof ExpectedEdge>;

/** Most characters of the labels and aliases of an inline task's nodes and of its allowed extras, all together. */
export const MAX_LABEL_TEXT = 20_000;

/** Bounded, since matching grows faster than linearly with it. */
export const Expectation = z.strictObject({
  nodes: z
    .array(ExpectedNode)
    .max(200)
    .describe(`Labels and aliases of an inline task hold at most ${MAX_LABEL_TEXT} characters together`),
  edges: z.array(ExpectedEdge).max(1000),
});
export type Expectation = z.infer<typeof Expectation>;

/** What a request may bring instead of a task of the suite. Without `expect` the reward falls back to the prompt's words. */
export const InlineTask = z.strictObject({
  prompt: z.string().max(MAX_PROMPT_LENGTH),
  expect: Expectation.optional(),
  canvas: CanvasSize.optional().describe('Default 1200 x 800'),
  direction: Direction.optional(),
  allowed_extras: z.array(Label).max(100).optional().describe('Labels of extra shapes that cost nothing'),
});
export type InlineTask = z.infer<typeof InlineTask>;

/** What everyone may see of a suite task. */
export const PublicTask = z.strictObject({
  task_id: z.string(),
  suite_version: z.number().int(),
  split: Split,
  family: Family,
  level: Level,
  seed: z.string().describe('64-bit seed as a decimal string'),
  prompt: z.string(),
  canvas: CanvasSize,
  direction: Direction.optional(),
  provenance: z.string().optional().describe('Where a real diagram comes from'),
});
export type PublicTask = z.infer<typeof PublicTask>;

/** A whole suite task; stays in the server. */
export const Task = PublicTask.extend({
  expect: Expectation,
  allowed_extras: z.array(z.string()).optional(),
});
export type Task = z.infer<typeof Task>;

/** What scoring needs to know of a task, suite or inline. */
export interface ScoredTask {
  prompt: string;
  canvas: z.infer<typeof CanvasSize>;
  expect?: Expectation | undefined;
  direction?: Direction | undefined;
  allowed_extras?: readonly string[] | undefined;
}

export const DEFAULT_CANVAS_SIZE = { w: 1200, h: 800 } as const;
