/** What the teacher understands of a prompt: boxes in the order they are named, and connections by position. */
import type { Direction } from '../../schemas/task.ts';

export interface GraphNode {
  label: string;
  shape: 'rectangle' | 'ellipse' | 'diamond';
}

export interface GraphEdge {
  /** Position in `nodes`. */
  from: number;
  to: number;
  /** "" for a bare arrow. */
  label: string;
}

export interface Graph {
  nodes: GraphNode[];
  edges: GraphEdge[];
  /** The reading direction the prompt asks for. */
  direction?: Direction;
}
