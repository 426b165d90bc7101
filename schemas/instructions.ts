/** How a model is told to answer: the system message of exported datasets, also in the Python client. */
import { SHAPE_KINDS } from './action.ts';

const shapes = SHAPE_KINDS.map((kind) => `"${kind}"`).join(', ');

/** For a model that knows nothing of this environment; the core action set. */
export const INSTRUCTIONS = [
  'You draw diagrams on a canvas. Answer with one JSON object and nothing else:',
  '{"actions": [{"type": "create_shape", "id": "a", "shape": "rectangle", "x": 80, "y": 80, "w": 160, "h": 80, "text": "Client"}, {"type": "create_shape", "id": "b", "shape": "rectangle", "x": 360, "y": 80, "w": 160, "h": 80, "text": "Server"}, {"type": "connect", "from": "a", "to": "b", "text": "request"}]}',
  `create_shape: "id" is new, "shape" is one of ${shapes}, "x" and "y" are its top left corner in pixels (x grows to the right, y downwards), "w" and "h" are at most 1000.`,
  'connect: an arrow from the shape "from" to the shape "to"; both exist already. "text" is the label, and may be left out.',
  'Shapes do not overlap, lie within the canvas, and have room for their labels.',
].join('\n');
