/**
 * Where arrows run: from border to border; several between the same two shapes fanned out; an arrow from a shape to
 * itself as a loop at its top right corner. Then where their labels stand: on the arrow, or beside it where it is short.
 */
import type { Arrow, Shape } from '../../schemas/canvas.ts';
import {
  along,
  borderDistance,
  centre,
  direction,
  distance,
  pathLength,
  pointAt,
  sharedArea,
  type Box,
  type Path,
  type Point,
} from './geometry.ts';
import { fitLabel, textWidth, type FittedLabel } from './label.ts';

/** Room the head's tip keeps to the border of the shape it points at, px. */
const TIP_GAP = 2;
/** A straight arrow shorter than this, px, is drawn from centre to centre instead: its shapes touch or overlap. */
const SHORTEST = 8;
const FAN_STEP = 34;
/** Fanned arrows never spread over more than this, px. */
const FAN_SPREAD = 240;
const LABEL_SIZE = 13;
const LABEL_BOX = { w: 170, h: 84 };
const LABEL_PADDING = { x: 5, y: 2 };

export interface PlacedLabel extends FittedLabel {
  /** The white plate behind the lines. */
  readonly plate: Box;
}

export interface PlacedArrow {
  readonly arrow: Arrow;
  readonly from: Shape;
  readonly to: Shape;
  readonly path: Path;
  readonly label: PlacedLabel | undefined;
}

interface Plate extends FittedLabel {
  readonly w: number;
  readonly h: number;
}

interface Member {
  readonly arrow: Arrow;
  readonly from: Shape;
  readonly to: Shape;
  readonly plate: Plate | undefined;
}

/** Places all arrows whose two shapes are given, in the order drawn; an arrow to an unknown shape is left out. */
export function placeArrows(arrows: readonly Arrow[], shapes: readonly Shape[]): PlacedArrow[] {
  const paths = routeArrows(members(arrows, shapes));
  const plates: Box[] = [];
  return paths.map(({ member, path }) => {
    const label = member.plate && placeLabel(member.plate, path, [...plates, ...shapes]);
    if (label) plates.push(label.plate);
    return { arrow: member.arrow, from: member.from, to: member.to, path, label };
  });
}

function members(arrows: readonly Arrow[], shapes: readonly Shape[]): Member[] {
  const byId = new Map(shapes.map((shape) => [shape.id, shape]));
  return arrows.flatMap((arrow) => {
    const from = byId.get(arrow.from);
    const to = byId.get(arrow.to);
    return from && to ? [{ arrow, from, to, plate: toPlate(arrow.text) }] : [];
  });
}

function toPlate(text: string): Plate | undefined {
  const label = fitLabel(text, LABEL_BOX, LABEL_SIZE);
  if (label.lines.length === 0) return undefined;
  const widest = label.lines.reduce((most, line) => Math.max(most, textWidth(line, label.size)), 0);
  const h = label.lines.length * label.line_height + 2 * LABEL_PADDING.y;
  return { ...label, w: widest + 2 * LABEL_PADDING.x, h };
}

/** One path for each arrow: arrows of the same two shapes are routed together. */
function routeArrows(all: readonly Member[]): { member: Member; path: Path }[] {
  const paths = new Map<Member, Path>();
  for (const group of groupByPair(all)) {
    const axis = direction(centre(group[0]!.from), centre(group[0]!.to));
    if (axis === undefined) group.forEach((member, i) => paths.set(member, loop(member.from, i)));
    else bows(group, axis).forEach((bow, i) => paths.set(group[i]!, route(group[i]!, axis, bow)));
  }
  return all.map((member) => ({ member, path: paths.get(member)! }));
}

function groupByPair(all: readonly Member[]): Member[][] {
  const groups = new Map<string, Member[]>();
  for (const member of all) {
    const key = JSON.stringify([member.from.id, member.to.id].sort());
    const group = groups.get(key);
    if (group) group.push(member);
    else groups.set(key, [member]);
  }
  return [...groups.values()];
}

/** Signed distances, px, of the middles of fanned arrows from the straight line; 0 for an arrow that is alone. */
function bows(group: readonly Member[], axis: Point): number[] {
  if (group.length === 1) return [0];
  const widest = group.reduce((most, { plate }) => Math.max(most, plate ? extent(plate, normal(axis)) + 6 : 0), 0);
  const step = Math.min(Math.max(FAN_STEP, widest), FAN_SPREAD / (group.length - 1));
  return group.map((_, i) => (i - (group.length - 1) / 2) * step);
}

function normal(axis: Point): Point {
  return { x: -axis.y, y: axis.x };
}

/** How far a box of w x h px reaches in a direction, px. */
function extent(box: { w: number; h: number }, towards: Point): number {
  return Math.abs(towards.x) * box.w + Math.abs(towards.y) * box.h;
}

/** `axis` is the direction of the group's first arrow, so that a two-way pair bows to its two sides. */
function route({ from, to }: Member, axis: Point, bow: number): Path {
  const start = centre(from);
  const end = centre(to);
  if (Math.abs(bow) < 0.5) return straight(from, to);
  const middle = along({ x: (start.x + end.x) / 2, y: (start.y + end.y) / 2 }, normal(axis), 2 * bow);
  const a = borderPoint(from, middle, 0);
  const b = borderPoint(to, middle, TIP_GAP);
  return [a, towards(a, middle), towards(b, middle), b];
}

/** Control point of the cubic curve that equals a quadratic one with its control point at `middle`. */
function towards(end: Point, middle: Point): Point {
  return { x: end.x + ((middle.x - end.x) * 2) / 3, y: end.y + ((middle.y - end.y) * 2) / 3 };
}

function borderPoint(shape: Shape, target: Point, gap: number): Point {
  const middle = centre(shape);
  const ray = direction(middle, target) ?? { x: 1, y: 0 };
  return along(middle, ray, borderDistance(shape, ray) + gap);
}

function straight(from: Shape, to: Shape): Path {
  const start = centre(from);
  const end = centre(to);
  const ray = direction(start, end) ?? { x: 1, y: 0 };
  const leave = borderDistance(from, ray);
  const arrive = distance(start, end) - borderDistance(to, ray) - TIP_GAP;
  return arrive - leave < SHORTEST ? [start, end] : [along(start, ray, leave), along(start, ray, arrive)];
}

/** A loop from the top of a shape around its corner into its right side; later ones are larger. */
function loop(shape: Shape, index: number): Path {
  const size = 38 + 20 * Math.min(index, 10);
  const [top, side] = loopEnds(shape);
  const start = borderPoint(shape, top, 0);
  const end = borderPoint(shape, side, TIP_GAP);
  return [start, { x: start.x + 4, y: start.y - size }, { x: end.x + size, y: end.y - 4 }, end];
}

function loopEnds(shape: Shape): [Point, Point] {
  const { x, y, w, h } = shape;
  if (shape.shape === 'ellipse' || shape.shape === 'diamond') {
    return [
      { x: x + 0.68 * w, y },
      { x: x + w, y: y + 0.32 * h },
    ];
  }
  return [
    { x: x + w - Math.min(28, w / 3), y },
    { x: x + w, y: y + Math.min(20, h / 3) },
  ];
}

/** The first of a few places that is free of shapes and other labels, else the one that covers least of them. */
function placeLabel(plate: Plate, path: Path, obstacles: readonly Box[]): PlacedLabel {
  const places = labelPlaces(plate, path).map((middle) => ({
    x: middle.x - plate.w / 2,
    y: middle.y - plate.h / 2,
    w: plate.w,
    h: plate.h,
  }));
  let best = places[0]!;
  let least = Infinity;
  for (const place of places) {
    const covered = obstacles.reduce((sum, box) => sum + sharedArea(box, place), 0);
    if (covered < least) [best, least] = [place, covered];
    if (least === 0) break;
  }
  return { lines: plate.lines, size: plate.size, line_height: plate.line_height, plate: best };
}

/** Middles a label may have: on the arrow while that leaves most of it visible, then beside it. */
function labelPlaces(plate: Plate, path: Path): Point[] {
  const chord = direction(path[0], path[path.length - 1]!) ?? { x: 1, y: 0 };
  const across = normal(chord);
  const side = extent(plate, across) / 2 + 5;
  const onArrow = [0.5, 0.42, 0.58, 0.34, 0.66].map((t) => pointAt(path, t));
  const beside = [0.5, 0.35, 0.65].flatMap((t) => {
    const point = pointAt(path, t);
    const above = across.y < -0.2 || (across.y < 0.2 && across.x > 0) ? side : -side;
    return [along(point, across, above), along(point, across, -above)];
  });
  const covers = extent(plate, chord) > 0.55 * pathLength(path);
  return covers ? [...beside, ...onArrow] : [...onArrow, ...beside];
}
