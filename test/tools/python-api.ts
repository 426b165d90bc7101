/**
 * Makes clients/python/src/canvas_gym/_api.py, the methods and types of the Python client, from the OpenAPI document.
 *
 * Run: npx tsx test/tools/python-api.ts. A test compares the file with what this makes.
 * Left out: the routes of other projects' protocols, which have clients of their own.
 */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createOpenApi } from '../../schemas/openapi.ts';
import { INSTRUCTIONS } from '../../schemas/instructions.ts';
import { ABOUT } from '../../server/about.ts';
import { bracketed, explain, MAX_LINE, PythonTypes, type Schema } from './python-types.ts';

export const API_PATH = fileURLToPath(new URL('../../clients/python/src/canvas_gym/_api.py', import.meta.url));

const OWN_TAGS = new Set(['episode', 'scoring', 'tasks', 'about']);

interface Parameter {
  name: string;
  in: 'path' | 'query';
  required: boolean;
  schema: Schema;
  description?: string;
}

type Content = Readonly<Record<string, { schema: Schema }>>;

interface OperationObject {
  operationId: string;
  tags: readonly string[];
  summary: string;
  description?: string;
  parameters?: readonly Parameter[];
  requestBody?: { content: Content };
  responses: Readonly<Record<string, { content: Content }>>;
}

export interface Document {
  paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>;
  components: { schemas: Readonly<Record<string, Schema>> };
}

interface Field {
  name: string;
  where: 'path' | 'query' | 'body';
  required: boolean;
  schema: Schema;
  description: string | undefined;
}

export interface Operation {
  id: string;
  method: string;
  path: string;
  summary: string;
  description: string | undefined;
  fields: Field[];
  /** Media type -> schema of a good answer. */
  answer: Content;
}

function bodyFields(schema: Schema | undefined, components: Document['components']['schemas']): Field[] {
  const body = schema?.$ref === undefined ? schema : components[schema.$ref.split('/').at(-1)!];
  return Object.entries(body?.properties ?? {}).map(([name, field]) => ({
    name,
    where: 'body',
    required: body?.required?.includes(name) === true,
    schema: field,
    description: field.description,
  }));
}

/** The environment's own operations, in the order of the document. */
export function toOperations({ paths, components }: Document): Operation[] {
  const entries = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  const own = entries.filter(({ operation }) => operation.tags.some((tag) => OWN_TAGS.has(tag)));
  return own.map(({ path, method, operation }) => {
    const parameters = (operation.parameters ?? []).map((given): Field => ({
      ...given,
      where: given.in,
      description: given.description ?? given.schema.description,
    }));
    const body = bodyFields(operation.requestBody?.content['application/json']?.schema, components.schemas);
    return {
      id: operation.operationId,
      method: method.toUpperCase(),
      path,
      summary: operation.summary,
      description: operation.description,
      fields: [...parameters, ...body],
      answer: operation.responses['200']!.content,
    };
  });
}

/** Breaks a text into lines of at most MAX_LINE characters, each behind `indent`. */
function wrap(text: string, indent: string, hanging = indent): string[] {
  const lines: string[] = [];
  let line = indent;
  for (const word of text.split(/\s+/)) {
    const isFirst = line.trim() === '';
    if (!isFirst && line.length + 1 + word.length > MAX_LINE) {
      lines.push(line);
      line = hanging + word;
    } else line += isFirst ? word : ` ${word}`;
  }
  return [...lines, line];
}

const quote = (text: string): string => JSON.stringify(text);
function toRow({ id, method, path, fields, answer }: Operation): string[] {
  const named = (where: Field['where']): string => {
    const names = fields.filter((field) => field.where === where).map((field) => quote(field.name));
    return `        ${where}_fields=${bracketed('(', names, ')', 21, '        ')},`;
  };
  const required = fields.filter((field) => field.required).map((field) => quote(field.name));
  const kind = answerKind(answer);
  return [
    `    ${quote(id)}: Operation(`,
    `        method=${quote(method)},`,
    `        path=${quote(path)},`,
    named('path'),
    named('query'),
    named('body'),
    `        required_fields=${bracketed('(', required, ')', 25, '        ')},`,
    `        answer=${quote(kind)},`,
    `        accept=${quote(kind === 'json' ? 'application/json' : '*/*')},`,
    '    ),',
  ];
}

function answerKind(answer: Content): 'json' | 'text' | 'bytes' {
  const types = Object.keys(answer);
  if (types.length === 1 && types[0] === 'application/json') return 'json';
  return types.every((type) => type.startsWith('text/')) ? 'text' : 'bytes';
}

function answerType(operation: Operation, types: PythonTypes): string {
  const kind = answerKind(operation.answer);
  if (kind !== 'json') return kind === 'text' ? 'str' : 'bytes';
  return types.typeOf(operation.answer['application/json']!.schema, operation.id, 'answer');
}

const RAISES = [
  'ResponseError: The server refuses (4xx) or failed (5xx).',
  'ConnectionFailed: No answer came, also after the repeats.',
];

function toDocstring({ summary, description, fields, answer }: Operation): string[] {
  const section = (title: string, entries: readonly string[]): string[] =>
    entries.length === 0
      ? []
      : ['', `        ${title}:`, ...entries.flatMap((entry) => wrap(entry, '            ', '                '))];
  const args = fields.map((field) => `${field.name}: ${explain(field.description, field.schema, true) ?? field.name}.`);
  const returns = answerKind(answer) === 'bytes' ? [`${Object.keys(answer).join(', ')}.`] : [];
  return [
    `        """${summary}.`,
    ...(description ? ['', ...wrap(description, '        ')] : []),
    ...section('Args', args),
    ...section('Returns', returns),
    ...section('Raises', RAISES),
    '        """',
  ];
}

function toMethod(operation: Operation, types: PythonTypes): string[] {
  const { id, fields } = operation;
  const sorted = [...fields].sort((a, b) => Number(b.required) - Number(a.required));
  const parameters = sorted.map(({ name, required, schema }) => {
    const type = types.typeOf(schema, '', name, true);
    const optional = type === 'Any' || type.startsWith('Optional[') ? type : `Optional[${type}]`;
    return `        ${name}: ${required ? type : `${optional} = None`},`;
  });
  const answer = answerType(operation, types);
  const signature =
    parameters.length > 0
      ? [`    def ${id}(`, '        self,', '        *,', ...parameters, `    ) -> ${answer}:`]
      : [`    def ${id}(self) -> ${answer}:`];
  const given = fields.map(({ name }) => `            ${quote(name)}: ${name},`);
  const values = given.length > 0 ? ['        fields: Dict[str, Any] = {', ...given, '        }'] : [];
  const call = `self._call(OPERATIONS[${quote(id)}], ${given.length > 0 ? 'fields' : '{}'})`;
  return ['', ...signature, ...toDocstring(operation), ...values, `        return cast(${quote(answer)}, ${call})`];
}

const HEADER = `"""The server's routes as methods, and what they take and answer as types.

Made from the OpenAPI document by test/tools/python-api.ts; a test keeps the two in step. Do not edit.
"""

from __future__ import annotations

from types import TracebackType
from typing import (
    Any,
    Dict,
    List,
    Literal,
    Mapping,
    NamedTuple,
    Optional,
    Sequence,
    Tuple,
    Type,
    TypedDict,
    TypeVar,
    Union,
    cast,
)
`;

const OPERATION = `class Operation(NamedTuple):
    """A route: where it is, where its fields go, and what it answers."""

    method: str
    path: str
    path_fields: Tuple[str, ...]
    query_fields: Tuple[str, ...]
    body_fields: Tuple[str, ...]
    required_fields: Tuple[str, ...]
    answer: Literal["json", "text", "bytes"]
    accept: str
`;

const API = `_Self = TypeVar("_Self", bound="Api")


class Api:
    """A method for each route; a field that is None is not sent, unless it must be."""

    def __enter__(self: _Self) -> _Self:
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the idle connections; the client may be used again."""
        raise NotImplementedError

    def _call(self, operation: Operation, fields: Mapping[str, Any]) -> Any:
        """Send a request and return what was answered."""
        raise NotImplementedError
`;

/** A long text, a line of it each line; ruff leaves such a one as it is. */
const toText = (text: string): string => {
  const lines = text.split(/(?<=\n)/).map((line) => `    ${quotedAsRuff(line)}`);
  return `(\n${lines.join('\n')}\n)`;
};

/** In single quotes where that needs fewer backslashes. */
function quotedAsRuff(text: string): string {
  const quoted = JSON.stringify(text);
  return text.includes('"') && !text.includes("'") ? `'${quoted.slice(1, -1).replaceAll('\\"', '"')}'` : quoted;
}

/** Definitions with blank lines between them as ruff format sets them: two around a class, one elsewhere. */
function spaced(definitions: readonly string[]): string[] {
  const isClass = (source: string | undefined): boolean => source?.startsWith('class ') === true;
  return definitions.map((source, i) => {
    const blank = isClass(source) || isClass(definitions[i - 1]) ? '\n\n' : '\n';
    return blank + source;
  });
}

/** The whole file. */
export function toPythonApi(document: Document): string {
  const operations = toOperations(document);
  const types = new PythonTypes(document.components.schemas);
  const methods = operations.flatMap((operation) => toMethod(operation, types));
  const names = types.names.filter((name) => !name.startsWith('_'));
  const exported = ['INSTRUCTIONS', 'OPERATIONS', ...['Api', 'Operation', ...names].sort()].map(
    (name) => `    ${quote(name)},`,
  );
  return [
    HEADER,
    ['__all__ = [', ...exported, ']'].join('\n'),
    `# How a model is told to answer.\nINSTRUCTIONS = ${toText(INSTRUCTIONS)}`,
    ...spaced(types.definitions),
    `\n\n${OPERATION}`,
    ['', 'OPERATIONS: Dict[str, Operation] = {', ...operations.flatMap(toRow), '}', '', ''].join('\n'),
    API + methods.join('\n'),
    '',
  ].join('\n');
}

export const currentApi = (): string => toPythonApi(createOpenApi(ABOUT) as unknown as Document);

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(API_PATH, currentApi());
