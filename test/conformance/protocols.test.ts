/**
 * The rules every protocol keeps, stated once and run over each: what one answer is worth, and how an episode runs. A rule
 * that a protocol has no means to show (it has no episodes, no seed, no limit of turns) is not run for it; `DRIVERS` says so.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Action } from '../../schemas/action.ts';
import { GOOD, INLINE, POOR, PROSE, SOLUTION, TASK_ID, ZEBRA } from '../protocols/drawings.ts';
import { Refused, type Driver, type Episode, type Question, type Start, type Turn, type World } from './driver.ts';
import { MCP } from './drivers/mcp.ts';
import { NEMO_GYM } from './drivers/nemo-gym.ts';
import { OPENENV } from './drivers/openenv.ts';
import { ORS } from './drivers/ors.ts';
import { OWN } from './drivers/own.ts';
import { REMOTE_REWARD } from './drivers/remote-reward.ts';
import { TOOL_MESSAGE } from './drivers/tool-message.ts';
import { FAULT, openFailingWorld, openWorld } from './world.ts';

const DRIVERS: readonly Driver[] = [...OWN, TOOL_MESSAGE, ...REMOTE_REWARD, ...NEMO_GYM, ...OPENENV, ...MCP, ...ORS];
const EPISODES = DRIVERS.filter(
  (driver): driver is Driver & Required<Pick<Driver, 'open'>> => driver.open !== undefined,
);

const SUITE: Question = { task_id: TASK_ID };
const OTHER: Question = { task_id: 'train.er.2.5' };
const OWN_TASK: Question = { task: INLINE };

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

/** The environment's own word on an answer. */
async function rewardOf(question: Question, text: string): Promise<number> {
  const [, reward] = OWN;
  return (await reward!.judge(world, question, text)).reward as number;
}

/**
 * What the expected answer of a task is written with; these are names of no field that a model may see. An answer holds texts
 * that hold JSON in their turn, where quotes have backslashes before them.
 */
const SECRETS = /\\*"(expect|nodes|edges|aliases|allowed_extras)\\*"\s*:/;

test.each([
  ['JSON', JSON.stringify(OWN_TASK)],
  ['a text in JSON', JSON.stringify({ text: JSON.stringify(OWN_TASK) })],
  ['a text in a text', JSON.stringify({ text: JSON.stringify({ text: `{"nodes": []}` }) })],
])('the check for the expected answer sees one in %s', (_, raw) => {
  expect(raw).toMatch(SECRETS);
});

/** That the caller is told to ask something else, and not to ask again. */
async function expectRefusal(asked: Promise<unknown>): Promise<void> {
  const outcome = await asked.catch((error: unknown) => error);
  expect(outcome).toBeInstanceOf(Refused);
  expect((outcome as Refused).status).toBeLessThan(500);
}

/** Answers as models write them when they do not do as told. */
const HOSTILE: readonly [string, string][] = [
  ['nothing', ''],
  ['prose', PROSE],
  ['null', 'null'],
  ['an empty list', '[]'],
  ['no actions', '{"actions": []}'],
  ['actions that are none', '{"actions": [null, 3, "x", []]}'],
  [
    'NaN',
    '{"actions": [{"type": "create_shape", "id": "a", "shape": "rectangle", "x": NaN, "y": 1e999, "w": -1, "h": 0}]}',
  ],
  ['a cut answer', POOR.slice(0, -20)],
  ['deep nesting', `{"actions": ${'['.repeat(3000)}${']'.repeat(3000)}}`],
  ['200 KB', `{"actions": [{"type": "create_shape", "id": "${'x'.repeat(200_000)}"}]}`],
  ['half a surrogate', '{"actions": "\ud800"}'],
];

const ANSWERS: readonly [string, Question, string][] = [
  ['a good answer', SUITE, GOOD],
  ['a poor answer', SUITE, POOR],
  ['a fenced answer', SUITE, `Here:\n\`\`\`json\n${GOOD}\n\`\`\``],
  ['an answer to a task that the request brings', OWN_TASK, ZEBRA],
  ['a wrong answer to it', OWN_TASK, GOOD],
];

describe.each(DRIVERS.map((driver) => [driver.name, driver] as const))('one answer, %s', (_, driver) => {
  test.each(ANSWERS.filter(([, question]) => question === SUITE || driver.own_tasks !== false))(
    '%s has the same reward as anywhere',
    async (__, question, text) => {
      const { reward } = await driver.judge(world, question, text);
      expect(reward).toBe(await rewardOf(question, text));
    },
  );

  test.each(HOSTILE)('%s: no error, and the low reward that it has anywhere', async (__, text) => {
    const { reward } = await driver.judge(world, SUITE, text);
    expect(reward).toBe(await rewardOf(SUITE, text));
    expect(reward).toBeGreaterThanOrEqual(0);
    expect(reward).toBeLessThan(0.3);
  });

  test('the same question twice has the same answer', async () => {
    const [first, second] = [await driver.judge(world, SUITE, POOR), await driver.judge(world, SUITE, POOR)];
    expect(second.reward).toBe(first.reward);
  });

  test('nothing of the expected answer comes with it', async () => {
    for (const text of [POOR, PROSE]) expect((await driver.judge(world, SUITE, text)).raw).not.toMatch(SECRETS);
  });

  test('an unknown task is refused, not scored', async () => {
    await expectRefusal(driver.judge(world, { task_id: 'train.nothing.1.3' }, GOOD));
  });
});

describe('a scorer that fails is not a zero', () => {
  const log: string[] = [];
  let failing: World;
  beforeAll(async () => {
    failing = await openFailingWorld(log);
  });
  afterAll(() => failing.close());

  test.each(DRIVERS.map((driver) => [driver.name, driver] as const))('%s', async (_, driver) => {
    log.length = 0;
    const outcome = await driver.judge(failing, SUITE, GOOD).catch((error: unknown) => error);
    if (outcome instanceof Refused) {
      expect([200, 503]).toContain(outcome.status); // 200 where the protocol has errors of its own
      if (outcome.status === 503) expect(outcome.retry_after).toBe('1');
      expect(outcome.message).not.toContain('1234');
    } else {
      expect(outcome).toMatchObject({ reward: null });
    }
    expect(log.join('\n')).toContain(FAULT);
  });
});

/** Plays actions and submits; what the model was told and what it was given. */
async function play(episode: Episode, actions: readonly Action[]): Promise<Turn[]> {
  const turns: Turn[] = [];
  for (const action of actions) turns.push(await episode.act(action));
  turns.push(await episode.submit());
  await episode.close();
  return turns;
}

const tell = ({ reward, over, terminated, truncated, said }: Turn) => ({ reward, over, terminated, truncated, said });

describe.each(EPISODES.map((driver) => [driver.name, driver] as const))('an episode, %s', (_, driver) => {
  const start: Start = { question: SUITE };

  test('goes on until the drawing is submitted, which terminates it', async () => {
    const turns = await play(await driver.open(world, start), SOLUTION);
    expect(turns.map(({ over }) => over)).toEqual([...SOLUTION.map(() => false), true]);
    const { terminated, truncated } = turns.at(-1)!;
    expect([terminated, truncated]).toEqual(driver.tells_end ? [true, false] : [undefined, undefined]);
  });

  test('is worth what the drawing is worth', async () => {
    const turns = await play(await driver.open(world, start), SOLUTION);
    const rewards = turns.map(({ reward }) => reward).filter((reward) => reward !== null) as number[];
    expect(rewards.every((reward) => Number.isFinite(reward))).toBe(true);
    const sum = rewards.reduce((total, reward) => total + reward, 0);
    const cost = (driver.turn_cost ?? 0) * turns.length;
    expect(sum).toBeCloseTo((await rewardOf(SUITE, GOOD)) - cost, 10);
  });

  test('is the same when it is played again', async () => {
    const [first, second] = [await driver.open(world, start), await driver.open(world, start)];
    expect(second.observation).toBe(first.observation);
    expect((await play(second, SOLUTION)).map(tell)).toEqual((await play(first, SOLUTION)).map(tell));
  });

  test('does not see another one that runs at the same time', async () => {
    const alone = (await play(await driver.open(world, start), SOLUTION)).map(tell);
    const [one, other] = [await driver.open(world, start), await driver.open(world, { question: OTHER })];
    const turns: Turn[] = [];
    for (const action of SOLUTION) {
      turns.push(await one.act(action));
      await other.act({ type: 'delete_shape', id: 'nobody' });
    }
    await other.submit();
    turns.push(await one.submit());
    expect(turns.map(tell)).toEqual(alone);
    await Promise.all([one.close(), other.close()]);
  });

  test('takes no more once it is over', async () => {
    const episode = await driver.open(world, start);
    await episode.submit();
    await expectRefusal(episode.act(SOLUTION[0]!));
    await episode.close();
  });

  test('tells nothing of the expected answer', async () => {
    const turns = await play(await driver.open(world, start), SOLUTION.slice(0, 2));
    for (const { raw, said } of turns) expect(raw + said).not.toMatch(SECRETS);
  });

  if (driver.own_tasks !== false) {
    test('begins without a word of a label that only the expected answer holds', async () => {
      const expect_ = { nodes: [{ id: 'x', label: 'Xylophone' }], edges: [] };
      const episode = await driver.open(world, { question: { task: { prompt: 'Draw.', expect: expect_ } } });
      expect(episode.observation).not.toContain('Xylophone');
      await episode.close();
    });
  }

  if (driver.limits)
    test('ends with its last turn, which truncates it, and not before', async () => {
      const episode = await driver.open(world, { ...start, max_turns: 3 });
      const turns: Turn[] = [];
      for (const action of SOLUTION.slice(0, 3)) turns.push(await episode.act(action));
      expect(turns.map(({ over }) => over)).toEqual([false, false, true]);
      const { terminated, truncated } = turns[2]!;
      expect([terminated, truncated]).toEqual(driver.tells_end ? [false, true] : [undefined, undefined]);
      await expectRefusal(episode.act(SOLUTION[3]!));
      await episode.close();
    });

  if (driver.seeds)
    test('is drawn by its seed', async () => {
      const opened = await Promise.all([7, 7, 8].map((seed) => driver.open(world, { seed })));
      const [first, second, other] = opened.map(({ observation }) => observation);
      expect(second).toBe(first);
      expect(other).not.toBe(first);
      await Promise.all(opened.map((episode) => episode.close()));
    });
});
