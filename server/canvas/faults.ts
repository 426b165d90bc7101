/** Faults of a single action: stable codes and the article's texts, and the checks of single fields. */
import { SHAPE_KINDS, type ShapeKind } from '../../schemas/action.ts';
import { MAX_COORDINATE, MAX_QUOTED_LENGTH, MAX_SIDE } from './limits.ts';
import type { RawAction, Style } from './types.ts';

/** Why an action was refused. `schema_valid`: each field is right by itself, only the canvas does not allow it. */
export interface Fault {
  fault: string;
  message: string;
  schema_valid: boolean;
}

/** A fault that the action has whatever the canvas holds. */
export function schemaFault(code: string, message: string): Fault {
  return { fault: code, message, schema_valid: false };
}

/** A fault that depends on the canvas. */
export function canvasFault(code: string, message: string): Fault {
  return { fault: code, message, schema_valid: true };
}

/** A value to repeat in a message; style `lenient` shortens it, so that no message floods a prompt or a log. */
export function quote(value: string, style: Style): string {
  if (style === 'article' || value.length <= MAX_QUOTED_LENGTH) return value;
  return `${value.slice(0, MAX_QUOTED_LENGTH)}... (${value.length} characters)`;
}

export function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

export function nameFault(field: string): Fault {
  return schemaFault('not_a_name', `${field} must be a non-empty string`);
}

export function isShapeKind(value: string): value is ShapeKind {
  return (SHAPE_KINDS as readonly string[]).includes(value);
}

/** Numbers as JSON has them: no booleans, no numeric strings, and 1e400 is not finite. */
export function isFiniteNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}

export function numberFault(action: RawAction, fields: readonly string[]): Fault | undefined {
  for (const field of fields)
    if (!isFiniteNumber(action[field])) return schemaFault('not_a_finite_number', `${field} must be a finite number`);
  return undefined;
}

/** Refuses coordinates that would overflow areas and pictures. The article has no such limit. */
export function rangeFault(action: RawAction, fields: readonly string[], style: Style): Fault | undefined {
  if (style === 'article') return undefined;
  for (const field of fields)
    if (Math.abs(action[field] as number) > MAX_COORDINATE)
      return schemaFault('out_of_range', `${field} must be between ${-MAX_COORDINATE} and ${MAX_COORDINATE}`);
  return undefined;
}

export function sideFault(w: number, h: number): Fault | undefined {
  if (w <= 0 || h <= 0) return schemaFault('not_positive', 'shape width and height must be positive');
  if (w > MAX_SIDE || h > MAX_SIDE) return schemaFault('too_large', 'shape too large');
  return undefined;
}

export function textFault(text: string | undefined): Fault | undefined {
  return text === undefined ? schemaFault('text_not_a_string', 'text must be a string') : undefined;
}
