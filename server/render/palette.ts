/** The colours of every picture and export. A model has no say in them, so contrast is always good. */
import type { ShapeKind } from '../../schemas/action.ts';

export const INK = '#1f2937';
export const LINE = '#475569';

export const FILL: Readonly<Record<ShapeKind, string>> = {
  rectangle: '#eaf1fd',
  ellipse: '#e6f6ec',
  diamond: '#fff4d9',
  text: 'none',
};

export const STROKE: Readonly<Record<ShapeKind, string>> = {
  rectangle: '#3b63a8',
  ellipse: '#2f7d55',
  diamond: '#a8741a',
  text: 'none',
};
