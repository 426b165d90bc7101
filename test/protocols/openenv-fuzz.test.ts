/** Whatever frames come: each is answered once, by a frame of the protocol, and episodes keep their rules. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { toStandaloneSchema } from '../../schemas/openapi.ts';
import { GradedObservation } from '../../schemas/protocols/openenv.ts';
import { createDispatcher } from '../../server/dispatch.ts';
import { NO_EPISODE, type EnvSession } from '../../server/protocols/tools/held-episode.ts';
import { answerFrame } from '../../server/protocols/openenv/frames.ts';

/** The same frames in each run; another number gives others. */
const SEED = 20_261_201;

const CODES = ['INVALID_JSON', 'UNKNOWN_TYPE', 'VALIDATION_ERROR', 'EXECUTION_ERROR', 'SESSION_ERROR'];
const validate = new Ajv2020({ strict: false }).compile(toStandaloneSchema(GradedObservation));

const value = fc.jsonValue({ maxDepth: 4 });
const shape = fc.record({
  type: fc.constantFrom('create_shape', 'move_shape', 'connect', 'done'),
  id: fc.constantFrom('a', 'b'),
  shape: fc.constantFrom('rectangle', 'text', 'star'),
  x: fc.integer({ min: -10, max: 2000 }),
  y: fc.integer({ min: -10, max: 2000 }),
  w: fc.integer({ min: 0, max: 900 }),
  h: fc.integer({ min: 0, max: 900 }),
  text: fc.string({ unit: 'binary', maxLength: 8 }),
});
const resetData = fc.record(
  {
    seed: fc.oneof(fc.integer(), fc.constant(null), fc.string()),
    episode_id: fc.oneof(fc.string(), fc.constant(null)),
    level: fc.integer({ min: 0, max: 6 }),
    split: fc.constantFrom('train', 'val', 'none'),
    max_turns: fc.integer({ min: 0, max: 4 }),
    action_set: fc.constantFrom('core', 'editor'),
    reward: fc.constantFrom('graded', 'article', 'weak', 'stronger'),
    more: value,
  },
  { requiredKeys: [] },
);
const stepData = fc.oneof(
  value,
  fc.record({ actions: fc.array(shape, { maxLength: 5 }) }),
  fc.record({ message: fc.string() }),
  fc.record({
    type: fc.constant('call_tool'),
    tool_name: fc.constantFrom('create_shape', 'submit_diagram', 'x'),
    arguments: shape,
  }),
  fc.constant({ type: 'list_tools' }),
);
const rpc = fc.record({
  jsonrpc: fc.constant('2.0'),
  id: fc.integer(),
  method: fc.constantFrom('tools/list', 'tools/call', 'openenv/session/create', 'x'),
  params: fc.oneof(fc.record({ name: fc.constantFrom('connect', 'start_diagram'), arguments: value }), value),
});
const message = fc.oneof(
  { weight: 4, arbitrary: fc.record({ type: fc.constant('reset'), data: resetData }) },
  { weight: 6, arbitrary: fc.record({ type: fc.constant('step'), data: stepData }) },
  { weight: 1, arbitrary: fc.constant({ type: 'state' }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('mcp'), data: rpc }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constantFrom('reset', 'step', 'state', 'mcp', 'zzz'), data: value }) },
  { weight: 1, arbitrary: value },
);
const frame = fc.oneof(
  { weight: 9, arbitrary: message.map((json) => Buffer.from(JSON.stringify(json))) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 40 }) },
);

interface Observed {
  observation: Record<string, unknown>;
  reward: number | null;
  done: boolean;
}

function checkObservation({ observation, reward, done }: Observed, session: EnvSession): void {
  expect(typeof done).toBe('boolean');
  expect(reward === null || Number.isFinite(reward)).toBe(true);
  if (!('prompt' in observation)) return;
  expect(validate({ ...observation, reward, done }), JSON.stringify(validate.errors)).toBe(true);
  expect(done).toBe(session.state?.stop_reason !== undefined);
}

test('random frames', () => {
  const faults: string[] = [];
  const { context } = createDispatcher({ log: (entry) => faults.push(entry) });
  fc.assert(
    fc.property(fc.array(frame, { minLength: 1, maxLength: 12 }), (frames) => {
      let session: EnvSession = NO_EPISODE;
      for (const bytes of frames) {
        const before = session;
        const { reply, ends, session: next } = answerFrame(session, bytes, context, 's');
        session = next;
        const { type, data } = JSON.parse(reply!) as { type: string; data: Record<string, unknown> };
        if (type === 'observation') checkObservation(data as unknown as Observed, session);
        else if (type === 'error') {
          expect(CODES).toContain(data['code']);
          expect(session).toBe(before);
        } else expect(['state', 'mcp']).toContain(type);
        expect(ends === true).toBe(data['code'] === 'SESSION_ERROR');
      }
    }),
    { numRuns: 400, seed: SEED },
  );
  expect(faults).toEqual([]);
});
