/** The OpenAPI document: valid, complete, and saying what the validation does. */
import { Validator } from '@seriousme/openapi-schema-validator';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { z } from 'zod';
import { isCompletion, isPrompt } from '../../schemas/completion.ts';
import {
  isSeed,
  RenderRequest,
  ResetRequest,
  RewardRequest,
  ScoreRequest,
  StepRequest,
} from '../../schemas/requests.ts';
import { ROUTES, ROUTE_IDS, type Route } from '../../schemas/routes.ts';
import { DOCUMENT, overTransports, validatorOf } from './support.ts';

interface Parameter {
  name: string;
  in: string;
  required: boolean;
}

test('is a valid OpenAPI 3.1 document', async () => {
  const validator = new Validator();
  const { valid, errors } = await validator.validate(structuredClone(DOCUMENT));
  expect(errors ?? []).toEqual([]);
  expect([valid, validator.version]).toEqual([true, '3.1']);
});

test('the validator sees a document that is not valid', async () => {
  const { valid } = await new Validator().validate({
    ...structuredClone(DOCUMENT),
    paths: { '/x': { get: { responses: 3 } } },
  });
  expect(valid).toBe(false);
});

test('has an operation for each route, with its parameters, body and refusals', () => {
  const operations = Object.entries(DOCUMENT.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => [`${method.toUpperCase()} ${path}`, operation] as const),
  );
  expect(operations.map(([name]) => name).sort()).toEqual(
    ROUTE_IDS.map((id) => `${ROUTES[id].method} ${ROUTES[id].path}`).sort(),
  );
  for (const id of ROUTE_IDS) {
    const route: Route = ROUTES[id];
    const operation = DOCUMENT.paths[route.path]![route.method.toLowerCase()]! as unknown as {
      operationId: string;
      parameters?: Parameter[];
      requestBody?: { required: boolean };
      responses: object;
    };
    expect(operation.operationId).toBe(id);
    const names = [route.params, route.query, route.headers].flatMap((schema) => Object.keys(schema?.shape ?? {}));
    expect((operation.parameters ?? []).map(({ name }) => name)).toEqual(names);
    expect(operation.requestBody?.required).toBe(route.body ? route.body_optional !== true : undefined);
    expect(Object.keys(operation.responses)).toEqual(
      expect.arrayContaining([
        '200',
        '503',
        ...(route.body ? ['400', '413'] : []),
        ...(route.body && route.body !== 'bytes' ? ['422'] : []),
      ]),
    );
  }
});

overTransports('the examples of the document', (api) => {
  test.each(ROUTE_IDS.filter((id) => 'example' in ROUTES[id]))('%s', async (id) => {
    const route: Route = ROUTES[id];
    const { status } = await api().post(route.path, route.example);
    expect(status).toBe(200);
  });

  test('the document is served', async () => {
    expect((await api().get('/openapi.json')).json).toEqual(DOCUMENT);
  });
});

const json = fc.jsonValue({ maxDepth: 3 });
const message = fc.record(
  {
    role: fc.constantFrom('user', 'assistant', 'system', 3),
    content: fc.oneof(fc.string(), fc.constant(null), fc.array(json, { maxLength: 2 }), fc.nat()),
  },
  { requiredKeys: [] },
);
const output = fc.oneof(
  fc.string(),
  json,
  fc.array(message, { maxLength: 3 }),
  fc.record({ actions: json }),
  fc.array(fc.oneof(message, json), { maxLength: 2 }),
);
const digits = fc.bigInt({ min: 0n, max: 2n ** 65n }).map(String);
const edges = fc.constantFrom(
  '0',
  '00',
  '01',
  '-1',
  '1.0',
  '18446744073709551615',
  '18446744073709551616',
  '9007199254740993',
  ' 1',
  '1e3',
  '',
);
const seed = fc.oneof(json, digits, edges, fc.integer(), fc.double(), fc.constantFrom(2 ** 53 - 1, 2 ** 53, -0));

describe('the document and the validation agree (seeded properties)', () => {
  const COMPLETION = validatorOf('#/components/schemas/RewardRequest/properties/completion');
  const PROMPT = validatorOf('#/components/schemas/RewardRequest/properties/prompt');
  const run = { seed: 20_260_501, numRuns: 2000 };

  test('completions', () => {
    fc.assert(
      fc.property(output, (value) => (COMPLETION(value) === '') === isCompletion(value)),
      run,
    );
  });

  test('prompts', () => {
    fc.assert(
      fc.property(output, (value) => (PROMPT(value) === '') === isPrompt(value)),
      run,
    );
  });

  test('seeds, which are what a 64-bit integer can be', () => {
    const SEED = validatorOf('#/components/schemas/ResetRequest/properties/seed');
    fc.assert(
      fc.property(
        seed,
        (value) =>
          value === null ||
          (typeof value === 'number' && !Number.isFinite(value)) ||
          (SEED(value) === '') === isSeed(value),
      ),
      run,
    );
    fc.assert(
      fc.property(digits, (text) => isSeed(text) === BigInt(text) < 2n ** 64n),
      run,
    );
  });

  const text = fc.string({ maxLength: 8 });
  const preset = fc.constantFrom('graded', 'article');
  const size = fc.constantFrom({ w: 1, h: 2 }, { w: 1200, h: 800 });
  const nodes = fc.array(fc.record({ id: fc.constantFrom('a', 'b'), label: fc.constantFrom('A', 'B') }), {
    maxLength: 2,
  });
  const expectation = fc.record({ nodes, edges: fc.constant([]) });
  const task = fc.record({ prompt: text, expect: expectation, canvas: size }, { requiredKeys: ['prompt'] });
  const answer = fc.record({ role: fc.constant('assistant'), content: text });
  const completion = fc.oneof(text, fc.tuple(answer), fc.record({ actions: json }));
  // At most one list of messages in a column: Ajv carries the count of `contains` from item to item.
  const column = fc.oneof(fc.array(text, { maxLength: 3 }), fc.array(output, { maxLength: 1 }));
  const context = fc.record({ task_id: fc.array(text), task: fc.array(task, { maxLength: 1 }) }, { requiredKeys: [] });
  const turns = fc.integer({ min: 1, max: 1000 });
  const level = fc.constantFrom(1, 2, 3, 4, 5);
  const split = fc.constantFrom('train', 'test_real');
  const seconds = fc.constantFrom(0.5, 30, null);
  const fields: Record<string, [z.ZodType, Record<string, fc.Arbitrary<unknown>>]> = {
    ResetRequest: [
      ResetRequest,
      {
        seed: fc.nat(),
        task_id: text,
        split,
        level,
        index: fc.nat(),
        task,
        prompt: text,
        reward: preset,
        max_turns: turns,
        episode_id: text,
      },
    ],
    StepRequest: [
      StepRequest,
      { action: json, task, prompt: text, reward: preset, timeout_s: seconds, request_id: text, finish_reason: text },
    ],
    RewardRequest: [RewardRequest, { completion, prompt: text, task_id: text, reward: preset }],
    ScoreRequest: [ScoreRequest, { completions: column, prompts: column, context, reward: preset }],
    RenderRequest: [
      RenderRequest,
      { actions: fc.array(json), completion, format: fc.constantFrom('svg', 'png'), canvas_size: size },
    ],
  };

  test.each(Object.entries(fields))('%s, with a field or two replaced by anything', (name, [schema, record]) => {
    const validate = validatorOf(`#/components/schemas/${name}`);
    const keys = Object.keys(record);
    const faults = fc.dictionary(fc.constantFrom(...keys, 'other'), fc.oneof(json, seed, output), { maxKeys: 1 });
    const requests = fc.tuple(fc.record(record, { requiredKeys: [keys[0]!] }), faults);
    const agreed = { accepted: 0, refused: 0 };
    fc.assert(
      fc.property(requests, ([valid, fault]) => {
        const sent = JSON.stringify({ ...valid, ...fault });
        const request: unknown = JSON.parse(sent);
        const isValid = schema.safeParse(request).success;
        agreed[isValid ? 'accepted' : 'refused'] += 1;
        expect([validate(request) === '', sent]).toEqual([isValid, sent]);
      }),
      { ...run, numRuns: 1000 },
    );
    expect(Math.min(agreed.accepted, agreed.refused)).toBeGreaterThan(50);
  });
});
