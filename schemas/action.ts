/**
 * The actions a model may send. These schemas describe valid actions: they type the clients and fill the documentation.
 * They do not judge model output: `server/canvas` checks each action field by field, so that a fault gets its own
 * message and costs reward instead of failing the request.
 */
import { z } from 'zod';

export const SHAPE_KINDS = ['rectangle', 'ellipse', 'diamond', 'text'] as const;
export const ShapeKind = z.enum(SHAPE_KINDS);
export type ShapeKind = z.infer<typeof ShapeKind>;

/** `core`: create_shape and connect. `editor`: also what a drawing editor needs in later turns. */
export const ACTION_SETS = ['core', 'editor'] as const;
export const ActionSet = z.enum(ACTION_SETS);
export type ActionSet = z.infer<typeof ActionSet>;

const ShapeId = z.string().min(1).describe('Shape id: any non-empty string, case-sensitive');
const Pixels = z.number().describe('Canvas pixels; x grows to the right, y grows downwards');
const Length = z.number().positive().max(1000).describe('Canvas pixels, over 0 and at most 1000');
const Label = z.string().describe('Label text');

export const CreateShape = z.strictObject({
  type: z.literal('create_shape'),
  id: ShapeId,
  shape: ShapeKind.describe('Kind of shape: rectangle, ellipse, diamond, or text (a label without an outline)'),
  x: Pixels,
  y: Pixels,
  w: Length,
  h: Length,
  text: Label.optional(),
});
export const Connect = z.strictObject({
  type: z.literal('connect'),
  from: ShapeId,
  to: ShapeId,
  text: Label.optional(),
});
export const MoveShape = z.strictObject({ type: z.literal('move_shape'), id: ShapeId, x: Pixels, y: Pixels });
export const ResizeShape = z.strictObject({ type: z.literal('resize_shape'), id: ShapeId, w: Length, h: Length });
export const SetText = z.strictObject({ type: z.literal('set_text'), id: ShapeId, text: Label });
export const DeleteShape = z.strictObject({ type: z.literal('delete_shape'), id: ShapeId });
export const Disconnect = z.strictObject({ type: z.literal('disconnect'), from: ShapeId, to: ShapeId });
export const Select = z.strictObject({
  type: z.literal('select'),
  ids: z.array(ShapeId).describe('Ids of the shapes; an empty list selects none'),
});
export const Done = z.strictObject({ type: z.literal('done') });

export const Action = z.discriminatedUnion('type', [
  CreateShape,
  Connect,
  MoveShape,
  ResizeShape,
  SetText,
  DeleteShape,
  Disconnect,
  Select,
  Done,
]);
export type Action = z.infer<typeof Action>;
export type ActionType = Action['type'];

export const CORE_ACTION_TYPES = ['create_shape', 'connect'] as const satisfies readonly ActionType[];
export const EDITOR_ACTION_TYPES = [
  ...CORE_ACTION_TYPES,
  'move_shape',
  'resize_shape',
  'set_text',
  'delete_shape',
  'disconnect',
  'select',
  'done',
] as const satisfies readonly ActionType[];
