/** The OpenAPI 3.1 document of the route table. Schemas are JSON Schema as zod writes them; named ones are components. */
import { OpenApiBuilder, type OperationObject, type ResponsesObject, type SchemaObject } from 'openapi3-ts/oas31';
import { z } from 'zod';
import { Action } from './action.ts';
import { Arrow, Canvas, CanvasSize, Shape } from './canvas.ts';
import { Lint, Observation, State } from './episode.ts';
import { ErrorBody, ErrorDetail } from './error.ts';
import { RenderRequest, ResetRequest, RewardRequest, ScoreRequest, StepRequest } from './requests.ts';
import * as responses from './responses.ts';
import { ActionError, Components, HeldOut, ParseInfo, PresetRef, Reason } from './reward.ts';
import { ROUTES, ROUTE_IDS, type Route } from './routes.ts';
import { Expectation, ExpectedEdge, ExpectedNode, InlineTask, PublicTask } from './task.ts';

const REF_PREFIX = '#/components/schemas/';

/** Schemas that are components, by their id in the document. */
const COMPONENTS = {
  Action,
  Shape,
  Arrow,
  Canvas,
  CanvasSize,
  Lint,
  Observation,
  State,
  ErrorBody,
  ErrorDetail,
  ActionError,
  Components,
  HeldOut,
  ParseInfo,
  PresetRef,
  Reason,
  Expectation,
  ExpectedEdge,
  ExpectedNode,
  InlineTask,
  PublicTask,
  ResetRequest,
  StepRequest,
  RewardRequest,
  ScoreRequest,
  RenderRequest,
  TaskFacts: responses.TaskFacts,
  RejectedAction: responses.RejectedAction,
  Info: responses.Info,
  ResetResponse: responses.ResetResponse,
  StepResponse: responses.StepResponse,
  RewardResponse: responses.RewardResponse,
  ScoreResponse: responses.ScoreResponse,
  TasksResponse: responses.TasksResponse,
  ToolsResponse: responses.ToolsResponse,
  HealthResponse: responses.HealthResponse,
  MetadataResponse: responses.MetadataResponse,
  SchemaResponse: responses.SchemaResponse,
  OpenApiResponse: responses.OpenApiResponse,
  RootResponse: responses.RootResponse,
} as const satisfies Record<string, z.ZodType>;

const registry = z.registry<{ id: string }>();
for (const [id, schema] of Object.entries<z.ZodType>(COMPONENTS)) registry.add(schema, { id });

/** A schema as it stands in the document: its own keywords, without what only a file of its own needs. */
function toDocumentSchema(schema: object): SchemaObject {
  return Object.fromEntries(Object.entries(schema).filter(([key]) => key !== '$schema' && key !== '$id'));
}

function toComponents(): Record<string, SchemaObject> {
  const { schemas } = z.toJSONSchema(registry, { uri: (id) => REF_PREFIX + id, unrepresentable: 'any' });
  return Object.fromEntries(Object.entries(schemas).map(([id, schema]) => [id, toDocumentSchema(schema)]));
}

/** A reference to a component; the schemas of foreign protocols stand where they are used. */
function refTo(schema: z.ZodType): SchemaObject | { $ref: string } {
  const id = registry.get(schema)?.id;
  return id === undefined ? toDocumentSchema(toStandaloneSchema(schema)) : { $ref: REF_PREFIX + id };
}

function toParameters(schema: z.ZodObject | undefined, where: 'path' | 'query' | 'header') {
  return Object.entries(schema?.shape ?? {}).map(([name, field]) => {
    const { description, ...rest } = toDocumentSchema(z.toJSONSchema(field));
    const required = where === 'path' || !(field instanceof z.ZodOptional);
    return { name, in: where, required, schema: rest, ...(description ? { description } : {}) };
  });
}

const REFUSALS: Readonly<Record<number, string>> = {
  400: 'Not JSON, not an object, nested too deep, a seed out of range, or a state that was changed or is from another version; in protocols with sessions also a missing header, a name that is taken, no such split or index',
  403: 'Sent by a web page of another machine',
  404: 'No such task, environment or session',
  408: 'The body came too slowly',
  409: 'The episode is over',
  410: 'The session has ended',
  413: 'The body is too large',
  415: 'The body is compressed',
  422: 'A field is missing, unknown or out of range, two fields exclude each other, or columns differ in length',
  503: 'The server failed or is busy; the request may be repeated',
};

/** An answer without a body. */
const ACCEPTED = 202;

function toResponses(route: Route): ResponsesObject {
  const { answer } = route;
  const content =
    answer instanceof z.ZodType
      ? { 'application/json': { schema: refTo(answer) } }
      : Object.fromEntries(Object.keys(answer.content).map((type) => [type, { schema: {} }]));
  const refusal = { 'application/json': { schema: refTo(ErrorBody) } };
  const statuses = [...(route.refusals ?? []), ...(route.body ? [408, 413, 415] : []), 503].sort((a, b) => a - b);
  return {
    200: { description: route.summary, content },
    ...Object.fromEntries(
      Object.entries(route.statuses ?? {}).map(([s, description]) => [
        s,
        { description, ...(Number(s) === ACCEPTED ? {} : { content }) },
      ]),
    ),
    ...Object.fromEntries(statuses.map((s) => [s, { description: REFUSALS[s] ?? '', content: refusal }])),
  };
}

function toOperation(id: string, route: Route): OperationObject {
  const parameters = [
    ...toParameters(route.params, 'path'),
    ...toParameters(route.query, 'query'),
    ...toParameters(route.headers, 'header'),
  ];
  const example = route.example ? { example: route.example } : {};
  const schema = route.body === 'bytes' ? {} : route.body && refTo(route.body);
  const content = schema && { 'application/json': { schema, ...example } };
  return {
    operationId: id,
    tags: [route.tag],
    summary: route.summary,
    ...(route.description ? { description: route.description } : {}),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(content ? { requestBody: { required: route.body_optional !== true, content } } : {}),
    responses: toResponses(route),
  };
}

/** The document. Every refusal has the schema `ErrorBody`; codes are in its enum. */
export function createOpenApi(about: { name: string; description: string; version: string }): Record<string, unknown> {
  const builder = OpenApiBuilder.create({
    openapi: '3.1.0',
    info: {
      title: about.name,
      version: about.version,
      description: about.description,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    paths: {},
  });
  for (const id of ROUTE_IDS) {
    const route: Route = ROUTES[id];
    builder.addPath(route.path, { [route.method.toLowerCase()]: toOperation(id, route) });
  }
  for (const [id, schema] of Object.entries(toComponents())) builder.addSchema(id, schema);
  return builder.getSpec() as unknown as Record<string, unknown>;
}

/** JSON Schema of one wire type by itself, without references to other documents. */
export function toStandaloneSchema(schema: z.ZodType): Record<string, unknown> {
  return z.toJSONSchema(schema, { unrepresentable: 'any' });
}
