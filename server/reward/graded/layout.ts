/**
 * How well the picture can be read, whatever it says: `L` of the graded reward, nine terms in [0, 1].
 *
 * All shapes count, hidden ones too, except for the free title. All terms are 0 with fewer than two visible shapes.
 */
import type { Direction } from '../../../schemas/task.ts';
import { boxGap, entersShape, segmentsCross, sharedArea, type Box } from './geometry.ts';
import type { Link } from './match.ts';
import type { SeenShape } from './visibility.ts';

export const LAYOUT_WEIGHTS = {
  overlap: 0.22,
  text_fit: 0.15,
  edge_through_node: 0.15,
  crossings: 0.12,
  align: 0.1,
  spacing: 0.1,
  flow: 0.08,
  aspect: 0.04,
  occupancy: 0.04,
} as const;

export type LayoutTerm = keyof typeof LAYOUT_WEIGHTS;
export type LayoutTerms = Record<LayoutTerm, number>;
export const LAYOUT_TERMS = Object.keys(LAYOUT_WEIGHTS) as LayoutTerm[];

/** Two shapes by their positions in the list of shapes. */
type ShapePair = readonly [number, number];

export interface Layout {
  readonly terms: LayoutTerms;
  readonly visible: number;
  readonly overlapping: readonly ShapePair[];
  /** Arrow, and the shape it runs through. */
  readonly through: readonly (readonly [number, number])[];
  readonly crossing: readonly (readonly [number, number])[];
  /** Shapes that are in line with no other. */
  readonly unaligned: readonly number[];
  /** Shapes whose nearest neighbour is too near or too far. */
  readonly badGaps: readonly number[];
  readonly flowDirection: Direction;
  /** Arrows against the flow. */
  readonly against: readonly number[];
  /** Width and height of the area that the shapes span, px, and the share of it that they fill. */
  readonly extent: Extent;
}

interface Extent {
  readonly w: number;
  readonly h: number;
  readonly share: number;
}

const FULL_OVERLAP_SHARE = 0.5;
const THROUGH_DEPTH_PX = 4;
const THROUGH_RATE = 1.5;
const ALIGNED_PX = 6;
const LEAST_GAP_PX = 20;
const MOST_GAP_PX = 300;
/** Least share of the longer side that the shorter one must have. */
export const WIDEST_ASPECT = 0.2;
const LEAST_OCCUPANCY = 0.04;
const MOST_OCCUPANCY = 0.85;

/** `isUndirected` tells of an arrow whether it stands for an undirected edge. Links and shapes by position. */
export function computeLayout(
  shapes: readonly SeenShape[],
  links: readonly Link[],
  title: number,
  isUndirected: (link: number) => boolean,
  direction: Direction | undefined,
): Layout {
  const laid = shapes.filter(({ index }) => index !== title);
  const overlap = measureOverlap(laid);
  const through = findThrough(shapes, links);
  const crossing = findCrossings(links);
  const unaligned = findUnaligned(laid);
  const gaps = nearestGaps(laid);
  const badGaps = laid.flatMap(({ index }, i) => (gaps[i]! < LEAST_GAP_PX || gaps[i]! > MOST_GAP_PX ? [index] : []));
  const flow = measureFlow(shapes, links, isUndirected, direction);
  const extent = measureExtent(laid);
  const visible = laid.filter(({ vis }) => vis > 0).length;
  const terms: LayoutTerms = {
    overlap: overlap.term,
    text_fit: textFit(laid),
    edge_through_node: Math.exp((-THROUGH_RATE * through.length) / Math.max(1, links.length)),
    crossings: crossingsTerm(links, crossing.length, shapes.length),
    align: 1 - unaligned.length / laid.length,
    spacing: 0.6 * (1 - badGaps.length / laid.length) + 0.4 * evenness(gaps),
    flow: flow.term,
    ...extentTerms(extent),
  };
  for (const term of LAYOUT_TERMS) terms[term] = visible < 2 ? 0 : clamp(terms[term]);
  const { flowDirection, against } = flow;
  const overlapping = overlap.pairs;
  return { terms, visible, overlapping, through, crossing, unaligned, badGaps, flowDirection, against, extent };
}

/** Into [0, 1]; areas of absurd sizes can overflow to no number at all, which is worth nothing. */
const clamp = (value: number): number => (value >= 0 ? Math.min(1, value) : 0);

/** max(0, 1 - sum over pairs of min(1, I / (0.5 min(A_i, A_j))) / n), I = area of the intersection. */
function measureOverlap(laid: readonly SeenShape[]): { term: number; pairs: ShapePair[] } {
  const pairs: ShapePair[] = [];
  let sum = 0;
  for (let i = 0; i < laid.length; i++) {
    const a = laid[i]!.box;
    for (let j = i + 1; j < laid.length; j++) {
      const b = laid[j]!.box;
      const shared = sharedArea(a, b);
      if (shared === 0) continue;
      sum += Math.min(1, shared / (FULL_OVERLAP_SHARE * Math.min(a.area, b.area)));
      pairs.push([laid[i]!.index, laid[j]!.index]);
    }
  }
  return { term: Math.max(0, 1 - sum / laid.length), pairs };
}

/** Share of labelled shapes whose wrapped label fits. */
function textFit(laid: readonly SeenShape[]): number {
  let [labelled, fitting] = [0, 0];
  for (const shape of laid) {
    if (!shape.labelled) continue;
    labelled++;
    if (shape.fits) fitting++;
  }
  return labelled === 0 ? 0 : fitting / labelled;
}

/** Pairs of an arrow and a shape at neither of its ends that it enters deeper than 4 px. */
function findThrough(shapes: readonly SeenShape[], links: readonly Link[]): [number, number][] {
  const pairs: [number, number][] = [];
  links.forEach(({ from, to, segment }, l) => {
    if (segment === undefined) return;
    for (const { index, box } of shapes) {
      if (index !== from && index !== to && entersShape(segment, box, THROUGH_DEPTH_PX)) pairs.push([l, index]);
    }
  });
  return pairs;
}

/** Pairs of arrows that cross. Arrows that share an end do not. */
function findCrossings(links: readonly Link[]): [number, number][] {
  const pairs: [number, number][] = [];
  for (let i = 0; i < links.length; i++) {
    const a = links[i]!;
    if (a.segment === undefined) continue;
    for (let j = i + 1; j < links.length; j++) {
      const b = links[j]!;
      if (a.from === b.from || a.from === b.to || a.to === b.from || a.to === b.to) continue;
      if (b.segment !== undefined && segmentsCross(a.segment, b.segment)) pairs.push([i, j]);
    }
  }
  return pairs;
}

/** max(0, 1 - c / min(c_max, m)), c_max = m(m-1)/2 - 1/2 sum deg(deg-1): pairs that share no end (Purchase 2002). */
function crossingsTerm(links: readonly Link[], crossings: number, shapeCount: number): number {
  if (crossings === 0) return 1;
  const m = links.length;
  const degree = new Int32Array(shapeCount);
  for (const { from, to } of links) {
    degree[from]!++;
    degree[to]!++;
  }
  const adjacent = degree.reduce((sum, deg) => sum + (deg * (deg - 1)) / 2, 0);
  return Math.max(0, 1 - crossings / Math.max(1, Math.min((m * (m - 1)) / 2 - adjacent, m)));
}

/** Shapes whose centre is within 6 px of no other's in x and in y. */
function findUnaligned(laid: readonly SeenShape[]): number[] {
  const isAligned = (a: Box, b: Box): boolean =>
    Math.abs(a.cx - b.cx) <= ALIGNED_PX || Math.abs(a.cy - b.cy) <= ALIGNED_PX;
  return laid.flatMap((shape) =>
    laid.some((other) => other !== shape && isAligned(shape.box, other.box)) ? [] : [shape.index],
  );
}

/** Distance of each shape to the nearest other one, px; Infinity for a single shape. */
function nearestGaps(laid: readonly SeenShape[]): Float64Array {
  const gaps = new Float64Array(laid.length).fill(Infinity);
  for (let i = 0; i < laid.length; i++) {
    for (let j = i + 1; j < laid.length; j++) {
      const gap = boxGap(laid[i]!.box, laid[j]!.box);
      if (gap < gaps[i]!) gaps[i] = gap;
      if (gap < gaps[j]!) gaps[j] = gap;
    }
  }
  return gaps;
}

/** max(0, 1 - sd / mean) of the gaps; 0 where they are all 0. */
function evenness(gaps: Float64Array): number {
  const mean = gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length;
  if (!(mean > 0) || mean === Infinity) return 0;
  const variance = gaps.reduce((sum, gap) => sum + (gap - mean) ** 2, 0) / gaps.length;
  return Math.max(0, 1 - Math.sqrt(variance) / mean);
}

const DIRECTIONS: readonly Direction[] = ['right', 'down', 'left', 'up'];

/** How far an arrow leads in a direction, between the centres of its shapes, px. */
function advance(from: Box, to: Box, direction: Direction): number {
  const along = direction === 'right' || direction === 'left' ? to.cx - from.cx : to.cy - from.cy;
  return direction === 'right' || direction === 'down' ? along : -along;
}

/**
 * Largest share of arrows that agree with one axis direction, or the share for the task's direction. An arrow agrees
 * when it leads there by more than the 6 px that still count as in line. Back edges are left out: an arrow on a cycle
 * that does not agree, since no cycle can lead one way all around.
 */
function measureFlow(
  shapes: readonly SeenShape[],
  links: readonly Link[],
  isUndirected: (link: number) => boolean,
  wanted: Direction | undefined,
): { term: number; flowDirection: Direction; against: number[] } {
  const onCycle = cycleTest(links, shapes.length);
  let best = { term: -1, flowDirection: wanted ?? 'right', against: [] as number[] };
  for (const direction of wanted === undefined ? DIRECTIONS : [wanted]) {
    let agreeing = 0;
    const against: number[] = [];
    links.forEach(({ from, to }, l) => {
      const step = advance(shapes[from]!.box, shapes[to]!.box, direction);
      if ((isUndirected(l) ? Math.abs(step) : step) > ALIGNED_PX) agreeing++;
      else if (!onCycle(l)) against.push(l);
    });
    const counted = agreeing + against.length;
    const term = counted === 0 ? 1 : agreeing / counted;
    if (term > best.term) best = { term, flowDirection: direction, against };
  }
  return best;
}

/** Tells of an arrow whether its start can be reached from its end. Looked up once for each arrow. */
function cycleTest(links: readonly Link[], shapeCount: number): (link: number) => boolean {
  const known = new Map<number, boolean>();
  let next: number[][] | undefined;
  return (link) => {
    const found = known.get(link);
    if (found !== undefined) return found;
    next ??= adjacency(links, shapeCount);
    const { from, to } = links[link]!;
    const answer = reaches(next, to, from);
    known.set(link, answer);
    return answer;
  };
}

function adjacency(links: readonly Link[], shapeCount: number): number[][] {
  const next = Array.from({ length: shapeCount }, (): number[] => []);
  for (const { from, to } of links) next[from]!.push(to);
  return next;
}

function reaches(next: readonly number[][], start: number, goal: number): boolean {
  const seen = new Uint8Array(next.length);
  const stack = [start];
  for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
    if (at === goal) return true;
    if (seen[at]) continue;
    seen[at] = 1;
    stack.push(...next[at]!);
  }
  return false;
}

/** Bounding box of all shapes. */
function measureExtent(laid: readonly SeenShape[]): Extent {
  let [left, top, right, bottom, area] = [Infinity, Infinity, -Infinity, -Infinity, 0];
  for (const { box } of laid) {
    left = Math.min(left, box.left);
    top = Math.min(top, box.top);
    right = Math.max(right, box.right);
    bottom = Math.max(bottom, box.bottom);
    area += box.area;
  }
  const [w, h] = [right - left, bottom - top];
  return { w, h, share: Math.min(1, area / (w * h)) };
}

/**
 * aspect: min(1, min(w/h, h/w) / 0.2) of the bounding box. occupancy: 1 while the shapes' areas are 4..85 % of it,
 * falling in proportion to 0 at 0 % and 100 %.
 */
function extentTerms({ w, h, share }: Extent): { aspect: number; occupancy: number } {
  return {
    aspect: Math.min(1, Math.min(w / h, h / w) / WIDEST_ASPECT),
    occupancy: Math.min(1, share / LEAST_OCCUPANCY, (1 - share) / (1 - MOST_OCCUPANCY)),
  };
}
