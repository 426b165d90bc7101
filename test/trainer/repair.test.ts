/** Repairing a damaged drawing: the script that damages, the teacher that repairs, and what the policy sees and keeps. */
import { beforeAll, describe, expect, test } from 'vitest';
import { createClient, type Client } from '../../clients/ts/index.ts';
import { Action } from '../../schemas/action.ts';
import { EMPTY_CANVAS, type Canvas } from '../../schemas/canvas.ts';
import { createRng, hash64 } from '../../schemas/seed.ts';
import { createApp } from '../../server/app.ts';
import { applyActions } from '../../server/canvas/apply.ts';
import { sampleTask } from '../../server/tasks/suite.ts';
import { actionGrammar } from '../../trainer/decoding/grammar.ts';
import type { GrammarState } from '../../trainer/decoding/grammar.ts';
import { toEpisodeRecord } from '../../trainer/record.ts';
import { createDamagedOpening, evaluateRepair, REPAIR_EPISODE, teachRepairs } from '../../trainer/repair.ts';
import { rollout, type Policy } from '../../trainer/rollout.ts';
import { damage, toRepair } from '../../trainer/teacher/damage.ts';
import { createScriptedTeacher } from '../../trainer/teacher/scripted.ts';
import { encodeCompletion, trainTokenizer } from '../../trainer/tokenizer.ts';

const TASKS = Array.from({ length: 24 }, (_, i) => `train.${i % 2 ? 'pipeline' : 'org_tree'}.1.${i}`);
const SEED = 5n;

let client: Client;
beforeAll(() => {
  const app = createApp({});
  client = createClient({ url: 'http://in.process', fetch: (request) => app.fetch(request) });
});

const run = (actions: readonly Action[], canvas: Canvas) =>
  applyActions(actions, { canvas, selected: [] }, { action_set: 'editor' });

/** Content without order: a canvas keeps the order in which things came. */
const contentOf = ({ shapes, arrows }: Canvas) => ({
  shapes: shapes.map((shape) => JSON.stringify(shape)).sort(),
  arrows: arrows.map((arrow) => JSON.stringify(arrow)).sort(),
});

test('the repair of any damage gives the drawing that was wanted, without a fault', () => {
  let damages = 0;
  for (let i = 0; i < 120; i++) {
    const task = sampleTask({ seed: String(i), split: 'train' });
    const rng = createRng(hash64('repair test', i));
    const observation = { prompt: task.prompt, canvas_size: task.canvas };
    const [text] = createScriptedTeacher(rng, { flaw_rate: 0 }).propose(observation, 1);
    if (text === undefined) continue;
    const wanted = Action.array().parse((JSON.parse(text) as { actions: unknown }).actions);
    const target = run(wanted, EMPTY_CANVAS).canvas;
    const damaged = run(damage(wanted, rng), EMPTY_CANVAS).canvas;
    const repaired = run(toRepair(damaged, wanted), damaged);
    expect(repaired.errors).toEqual([]);
    expect(repaired.submitted).toBe(true);
    expect(contentOf(repaired.canvas)).toEqual(contentOf(target));
    damages += Number(JSON.stringify(contentOf(damaged)) !== JSON.stringify(contentOf(target)));
  }
  expect(damages).toBeGreaterThan(90);
});

describe('episodes that begin with a damaged drawing', () => {
  /** Does nothing, so that every turn costs what it costs. */
  const idle: Policy = (observations) =>
    observations.map(() => {
      const text = '{"actions":[{"type":"done"}]}';
      return { text, finish_reason: 'stop', prompt_ids: [1], completion_ids: [2], sampled_logprobs: [-1] };
    });
  const play = (policy: Policy) =>
    rollout(client, policy, TASKS.slice(0, 3), {
      ...REPAIR_EPISODE,
      group_size: 2,
      opening: createDamagedOpening(SEED),
    });

  /** The repairs alone. */
  const teach = async () => {
    const examples = await teachRepairs(client, TASKS, SEED, () => undefined);
    return examples.filter(({ prompt }) => prompt.includes('Drawn: '));
  };

  test('a group meets one canvas; turns hold the policy alone; the log holds both', async () => {
    const trajectories = await play(idle);
    const [first, second] = trajectories;
    expect(first!.turns[0]!.observation.canvas).toEqual(second!.turns[0]!.observation.canvas);
    for (const { opening, turns, episode_return, stop_reason } of trajectories) {
      expect(turns).toHaveLength(1);
      expect(stop_reason).toBe('submitted');
      expect(turns[0]!.reward).toBeCloseTo(-0.01, 6);
      expect(episode_return).toBeCloseTo(opening!.reward! - 0.01, 6);
    }
    const record = toEpisodeRecord(first!, { policy_version: 'test', optimizer_step: 0, reward: 'graded' });
    expect(record.steps.map(({ action }) => typeof action === 'string' && action.includes('create_shape'))).toEqual([
      true,
      false,
    ]);
    expect(record.steps[0]).not.toHaveProperty('completion_ids');
  });

  test('the policy sees the request, the drawing, faults and remarks', async () => {
    const examples = await teach();
    expect(examples.length).toBeGreaterThan(TASKS.length / 2);
    for (const { prompt } of examples) {
      expect(prompt).toMatch(/\nDrawn: \{"actions":\[\{"type":"create_shape".*\]\}\nErrors: none\.\nRemarks: .+\.\n$/);
    }
    expect(examples.some(({ prompt }) => prompt.includes('overlap; move them apart'))).toBe(true);
  });

  test('for each repair the teacher also draws the diagram from nothing', async () => {
    const examples = await teachRepairs(client, TASKS, SEED, () => undefined);
    const drawings = examples.filter(({ prompt }) => !prompt.includes('Drawn: '));
    expect(drawings).toHaveLength((await teach()).length);
    for (const { reward } of drawings) expect(reward).toBeGreaterThan(0.85);
  });

  test('what the teacher does earns its reward again, and is in the grammar of the action set', async () => {
    const examples = await teach();
    const ids = examples.map(({ task_id }) => task_id);
    const answers = new Map(examples.map(({ task_id, completion }) => [task_id, completion]));
    const teacher: Policy = (observations) =>
      observations.map(({ task_id }) => {
        const text = answers.get(task_id!)!;
        return { text, finish_reason: 'stop', prompt_ids: [], completion_ids: [], sampled_logprobs: [] };
      });
    const { rewards, damaged, repaired, reward } = await evaluateRepair(client, teacher, ids, SEED);
    expect(rewards).toEqual(examples.map((example) => example.reward));
    expect(repaired - damaged - 0.01).toBeCloseTo(reward, 6);
    expect(repaired).toBeGreaterThan(0.9);
    const tokenizer = trainTokenizer(examples);
    const grammar = actionGrammar(tokenizer, { action_set: 'editor', max_actions: 200 });
    for (const { completion } of examples) {
      const end = encodeCompletion(tokenizer, completion).reduce<GrammarState | undefined>(
        (state, id) => state && grammar.advance(state, id),
        grammar.start,
      );
      expect([completion, end?.at]).toEqual([completion, 'ended']);
    }
  });

  test('an opening that ends the episode is an error', async () => {
    const options = { ...REPAIR_EPISODE, max_turns: 1, group_size: 1, opening: createDamagedOpening(SEED) };
    await expect(rollout(client, idle, TASKS.slice(0, 1), options)).rejects.toThrow('give it more turns');
  });
});
