/**
 * Preset `stronger` (article.md), read literally:
 *
 *   0.25 parses_as_json + 0.20 schema_valid + 0.20 renderer_accepts + 0.15 requested_entities_present
 *   + 0.10 arrows_connect_expected_entities + 0.10 layout_quality
 *
 * - parses_as_json: 1 if JSON was found whole, 0.5 if the text ends inside it, else 0
 * - schema_valid: share of the actions whose fields are right; an empty list has no wrong one, so 1
 * - renderer_accepts: share of those that the canvas accepted; 1 for an empty list
 * - requested_entities_present: share of the expected labels that some label contains
 * - arrows_connect_expected_entities: share of the expected edges with an arrow between shapes that contain their ends
 * - layout_quality: 1 - 0.15 for each pair of shapes that overlap or touch, at least 0; 1 for an empty canvas
 *
 * An expected edge from a node to itself is left out, as no arrow can be drawn for it. Without an expectation, entities are the prompt's important words, and arrows are judged by the share of the drawn
 * ones that lead from an important word to another.
 *
 * Format alone earns 0.65, an empty list 0.75, and two boxes that hold every label, joined both ways, 1.00. This is why
 * nothing trains on it; it stays for comparison.
 */
import { type Arrow, type Canvas, EMPTY_CANVAS } from '../../schemas/canvas.ts';
import type { ActionError, Reason } from '../../schemas/reward.ts';
import type { Expectation, ExpectedEdge, ExpectedNode, ScoredTask } from '../../schemas/task.ts';
import type { ParseResult } from '../canvas/types.ts';
import { OVERLAP_COST, overlapMessage, touchingPairs } from './overlap.ts';
import { byLoss, firstFew } from './reasons.ts';
import type { Drawing, ScorePreset } from './types.ts';
import { importantWords, missingWords, wordsOf } from './words.ts';

const WEIGHTS = {
  parses_as_json: 0.25,
  schema_valid: 0.2,
  renderer_accepts: 0.2,
  requested_entities_present: 0.15,
  arrows_connect_expected_entities: 0.1,
  layout_quality: 0.1,
} as const;

type Component = keyof typeof WEIGHTS;

/** A component's value and, where it is below 1, what to change. */
interface Part {
  value: number;
  code?: string;
  message?: string;
}

const FULL: Part = { value: 1 };

export const scoreStronger: ScorePreset = (task, drawing) => {
  const parts: Record<Component, Part> = { ...formatParts(drawing), ...contentParts(task, drawing) };
  const components: Record<string, number> = {};
  const reasons: Reason[] = [];
  let reward = 0;
  for (const [component, weight] of Object.entries(WEIGHTS) as [Component, number][]) {
    const { value, code = component, message = '' } = parts[component];
    components[component] = value;
    reward += weight * value;
    reasons.push({ component, code, message, lost: weight * (1 - value) });
  }
  return {
    reward: Math.min(1, reward),
    components,
    reasons: byLoss(reasons),
    expectation: task.expect ? 'task' : 'none',
  };
};

type FormatComponent = 'parses_as_json' | 'schema_valid' | 'renderer_accepts';
type ContentComponent = Exclude<Component, FormatComponent>;

function formatParts({ parse, apply }: Drawing): Record<FormatComponent, Part> {
  const parses_as_json = jsonPart(parse);
  if (apply === null) {
    const part = isEmptyList(parse) ? FULL : faultPart(0, parse.errors);
    return { parses_as_json, schema_valid: part, renderer_accepts: part };
  }
  const { actions, schema_valid, accepted } = apply.counts;
  return {
    parses_as_json,
    schema_valid: faultPart(schema_valid / actions, apply.errors),
    renderer_accepts: faultPart(schema_valid === 0 ? 0 : accepted / schema_valid, apply.errors),
  };
}

function jsonPart({ info, errors }: ParseResult): Part {
  if (info.outcome === 'none') return faultPart(0, errors);
  if (!info.truncated) return FULL;
  return { value: 0.5, code: 'truncated', message: 'the text ends inside the JSON: send a shorter answer' };
}

function faultPart(value: number, errors: readonly ActionError[]): Part {
  const [first] = errors;
  if (first === undefined) return { value };
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more errors)` : '';
  return { value, code: first.code, message: first.message + more };
}

function isEmptyList(parse: ParseResult): boolean {
  return parse.errors[0]?.code === 'empty_actions';
}

function contentParts(task: ScoredTask, { parse, apply }: Drawing): Record<ContentComponent, Part> {
  const canvas = apply?.canvas ?? EMPTY_CANVAS;
  if (apply === null && !isEmptyList(parse)) {
    const nothing = faultPart(0, parse.errors);
    return {
      requested_entities_present: nothing,
      arrows_connect_expected_entities: nothing,
      layout_quality: nothing,
    };
  }
  return {
    ...(task.expect ? expectedParts(task.expect, canvas) : promptParts(task.prompt, canvas)),
    layout_quality: layoutPart(canvas),
  };
}

function layoutPart(canvas: Canvas): Part {
  const touching = touchingPairs(canvas.shapes);
  const value = Math.max(0, 1 - OVERLAP_COST * touching.count);
  return { value, code: 'shapes_overlap', message: overlapMessage(touching) };
}

type EntityParts = Omit<Record<ContentComponent, Part>, 'layout_quality'>;

/** Share of `wanted` that is not missing; 1 when nothing is wanted. */
function sharePart(wanted: number, missing: readonly string[], code: string, text: string): Part {
  if (missing.length === 0) return FULL;
  return { value: 1 - missing.length / wanted, code, message: `${text}: ${firstFew(missing)}` };
}

function expectedParts(expect: Expectation, canvas: Canvas): EntityParts {
  const labelled = canvas.shapes.map(({ id, text }) => ({ id, text: fold(text) }));
  const holders = new Map(expect.nodes.map((node) => [node.id, shapesHolding(node, labelled)]));
  const missing = expect.nodes.filter((node) => holders.get(node.id)?.size === 0);
  const labels = new Map(expect.nodes.map((node) => [node.id, node.label]));
  const edges = expect.edges.filter((edge) => edge.from !== edge.to);
  const lost = edges.filter((edge) => !isDrawn(edge, holders, canvas.arrows));
  const names = lost.map((edge) => `${labels.get(edge.from) ?? edge.from} to ${labels.get(edge.to) ?? edge.to}`);
  return {
    requested_entities_present: sharePart(
      expect.nodes.length,
      missing.map((node) => node.label),
      'entities_missing',
      'no label holds',
    ),
    arrows_connect_expected_entities: sharePart(edges.length, names, 'arrows_missing', 'no arrow leads from'),
  };
}

/** Ids of the shapes whose folded label contains the node's label or an alias of it. */
function shapesHolding(node: ExpectedNode, labelled: readonly { id: string; text: string }[]): Set<string> {
  const wanted = [node.label, ...(node.aliases ?? [])].map(fold);
  return new Set(labelled.filter(({ text }) => wanted.some((label) => text.includes(label))).map(({ id }) => id));
}

/** Case, width and white space do not count. */
function fold(text: string): string {
  return text.normalize('NFKC').toLowerCase().replace(/\s+/g, ' ').trim();
}

function isDrawn(edge: ExpectedEdge, holders: ReadonlyMap<string, Set<string>>, arrows: readonly Arrow[]): boolean {
  const from = holders.get(edge.from);
  const to = holders.get(edge.to);
  if (from === undefined || to === undefined) return false;
  const leads = (a: Set<string>, b: Set<string>): boolean =>
    arrows.some((arrow) => a.has(arrow.from) && b.has(arrow.to));
  return leads(from, to) || (edge.directed === false && leads(to, from));
}

function promptParts(prompt: string, canvas: Canvas): EntityParts {
  const important = importantWords(prompt);
  if (important.size === 0) {
    const half = { value: 0.5, code: 'prompt_without_words', message: 'the prompt has no word of 4 or more letters' };
    return { requested_entities_present: half, arrows_connect_expected_entities: half };
  }
  const missing = missingWords(important, canvas);
  return {
    requested_entities_present: sharePart(important.size, missing, 'entities_missing', 'no label holds'),
    arrows_connect_expected_entities: promptArrows(important, canvas),
  };
}

function promptArrows(important: ReadonlySet<string>, { shapes, arrows }: Canvas): Part {
  const named = new Set(
    shapes.filter(({ text }) => wordsOf(text).some((word) => important.has(word))).map(({ id }) => id),
  );
  const astray = arrows.filter((arrow) => !named.has(arrow.from) || !named.has(arrow.to));
  if (arrows.length === 0)
    return { value: 0, code: 'arrows_missing', message: 'there is no arrow: connect the shapes' };
  const names = astray.map((arrow) => `${arrow.from} to ${arrow.to}`);
  return sharePart(arrows.length, names, 'arrows_astray', 'these arrows have an end that the prompt does not name');
}
