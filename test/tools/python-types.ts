/**
 * JSON Schemas as Python types: closed objects become TypedDicts, enums and constants Literals, open objects dictionaries.
 *
 * Names are for Python 3.9: Optional and Union instead of `|`, and two classes where only some keys are required.
 * Bounds and lengths, which a Python type cannot say, are comments. Left out: patterns.
 */

/** What is read of a schema. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly description?: string;
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
}

/** Enums with a name of their own, by the properties that hold them. */
const ENUM_NAMES: Readonly<Record<string, string>> = {
  split: 'Split',
  family: 'Family',
  level: 'Level',
  reward: 'Preset',
  action_set: 'ActionSet',
  stop_reason: 'StopReason',
  format: 'RenderFormat',
  direction: 'Direction',
};

const PRIMITIVES: Readonly<Record<string, string>> = {
  string: 'str',
  integer: 'int',
  number: 'float',
  boolean: 'bool',
  null: 'None',
  object: 'Dict[str, Any]',
  array: 'List[Any]',
};

/** Longest line, as ruff is told in pyproject.toml. */
export const MAX_LINE = 120;

/** Words that cannot be a name in a class body, of those that are keys. */
const KEYWORDS = new Set(['from']);

const toPascal = (name: string): string =>
  name.replace(/(^|_)([a-z])/g, (_, __, letter: string) => letter.toUpperCase());
const NAMED: ReadonlyMap<unknown, string> = new Map([
  [true, 'True'],
  [false, 'False'],
  [null, 'None'],
]);
const toPython = (value: unknown): string => NAMED.get(value) ?? JSON.stringify(value);
const unique = <T>(values: readonly T[]): T[] => [...new Set(values)];

/** The values where the schema allows nothing but constants. */
function constantsOf({ enum: values, const: value, anyOf }: Schema): unknown[] | undefined {
  if (values) return [...values];
  if (value !== undefined) return [value];
  const parts = anyOf?.map((part) => constantsOf(part));
  return parts?.every((part) => part !== undefined) ? parts.flat() : undefined;
}

/** What a value may be beyond its type, in words: its range, its length, or, of several constants, which. */
function limitsOf(schema: Schema, withConstants: boolean): string | undefined {
  const constants = constantsOf(schema);
  if (constants) return withConstants && constants.length > 1 ? `one of ${constants.join(', ')}` : undefined;
  const parts = schema.anyOf?.filter((part) => part.type !== 'null');
  if (parts) return parts.length === 1 ? limitsOf(parts[0]!, withConstants) : undefined;
  if (schema.maxLength !== undefined) return `at most ${schema.maxLength} characters`;
  const items = schema.items && limitsOf(schema.items, false);
  const each = items === undefined ? '' : `each ${items}`;
  if (schema.maxItems !== undefined) return `at most ${schema.maxItems} items${each && `, ${each}`}`;
  return each || rangeOf(schema);
}

function rangeOf({ minimum, exclusiveMinimum, maximum }: Schema): string | undefined {
  const [low, high] = [minimum, maximum].map((bound) =>
    Number.isSafeInteger(bound! + Math.sign(bound!)) ? bound : undefined,
  );
  if (low !== undefined && high !== undefined) return `${low} to ${high}`;
  if (low !== undefined) return `at least ${low}`;
  const over = exclusiveMinimum === undefined ? undefined : `over ${exclusiveMinimum}`;
  return [over, high === undefined ? undefined : `at most ${high}`].filter(Boolean).join(' and ') || undefined;
}

/** A description and what else the schema says, as one text; undefined where both say nothing. */
export function explain(description: string | undefined, schema: Schema, withConstants = false): string | undefined {
  const limits = limitsOf(schema, withConstants);
  if (description === undefined) return limits && limits[0]!.toUpperCase() + limits.slice(1);
  return limits === undefined || description.includes(limits) ? description : `${description}; ${limits}`;
}

/** Items between brackets: on one line if they fit behind `column` characters, else a line each. */
export function bracketed(open: string, items: readonly string[], close: string, column: number, indent = ''): string {
  const line = open + items.join(', ') + (open === '(' && items.length === 1 ? ',' : '') + close;
  if (column + line.length <= MAX_LINE) return line;
  return [open, ...items.map((item) => `${indent}    ${item},`), indent + close].join('\n');
}

const toUnion = (types: readonly string[]): string => {
  const parts = unique(types);
  const others = parts.filter((part) => part !== 'None');
  if (others.includes('Any')) return 'Any';
  const union = others.length > 1 ? `Union[${others.join(', ')}]` : (others[0] ?? 'None');
  return parts.includes('None') && others.length > 0 ? `Optional[${union}]` : union;
};

/** Collects definitions in an order in which each comes after those it names. */
export class PythonTypes {
  readonly #components: Readonly<Record<string, Schema>>;
  readonly #defined = new Map<string, string>();

  constructor(components: Readonly<Record<string, Schema>>) {
    this.#components = components;
  }

  /** Source of every type that was asked for so far. */
  get definitions(): string[] {
    return [...this.#defined.values()];
  }

  get names(): string[] {
    return [...this.#defined.keys()];
  }

  /**
   * The type of a value under the key `key` of `owner`.
   * What a caller gives (`given`) may be any sequence or mapping; what is answered is a list or a dictionary.
   */
  typeOf(schema: Schema, owner: string, key: string, given = false): string {
    if (schema.$ref !== undefined) return this.#component(schema.$ref.split('/').at(-1)!);
    const constants = constantsOf(schema);
    if (constants) return this.#literal(constants, key);
    const inner = (part: Schema): string => this.typeOf(part, owner, key, given);
    const parts = schema.anyOf ?? schema.oneOf;
    if (parts) return toUnion(parts.map(inner));
    if (Array.isArray(schema.type)) return toUnion(schema.type.map((type: string) => PRIMITIVES[type]!));
    if (schema.type === 'array') return `${given ? 'Sequence' : 'List'}[${inner(schema.items ?? {})}]`;
    if (schema.type === 'object') return this.#object(schema, owner, key, given);
    return PRIMITIVES[String(schema.type)] ?? 'Any';
  }

  #literal(values: readonly unknown[], key: string): string {
    const items = values.map(toPython);
    const name = values.length > 1 ? ENUM_NAMES[key] : undefined;
    if (name === undefined) return `Literal[${items.join(', ')}]`;
    this.#define(name, `${name} = ${bracketed('Literal[', items, ']', name.length + 3)}`);
    return name;
  }

  #object(schema: Schema, owner: string, key: string, given: boolean): string {
    if (schema.properties && schema.additionalProperties === false) {
      const name = owner + toPascal(key);
      return this.#twinOf(name, schema) ?? this.#typedDict(name, schema);
    }
    const values = schema.additionalProperties;
    const type = typeof values === 'object' && !schema.properties ? this.typeOf(values, owner, key, given) : 'Any';
    return `${given ? 'Mapping' : 'Dict'}[str, ${type}]`;
  }

  /** A component that has the same keys with the same types. */
  #twinOf(owner: string, { properties = {}, required = [] }: Schema): string | undefined {
    const keysOf = (given: Schema['properties']): string =>
      JSON.stringify(Object.entries(given ?? {}).map(([key, value]) => [key, this.typeOf(value, owner, key)]));
    const keys = keysOf(properties);
    return this.names.find((name) => {
      const other = this.#components[name];
      return other?.required?.join() === required.join() && keysOf(other.properties) === keys;
    });
  }

  #component(name: string): string {
    if (this.#defined.has(name)) return name;
    const schema = this.#components[name];
    if (!schema) throw new Error(`the document has no schema ${name}`);
    if (schema.properties) this.#typedDict(name, schema);
    else this.#define(name, `${name} = ${this.#unionOf(name, schema)}`);
    return name;
  }

  /** A union whose members are told apart by `type` names each of them after it. */
  #unionOf(name: string, schema: Schema): string {
    if (!schema.oneOf) return this.typeOf(schema, name, '');
    const members = schema.oneOf.map((member) => {
      const own = toPascal(String(member.properties?.['type']?.const));
      this.#typedDict(own, member);
      return own;
    });
    return bracketed('Union[', members, ']', name.length + 3);
  }

  #typedDict(name: string, schema: Schema): string {
    if (this.#defined.has(name)) return name;
    const keys = Object.entries(schema.properties ?? {}).map(([key, value]) => ({
      key,
      type: this.typeOf(value, name, key),
      comment: explain(value.description, value),
      required: schema.required?.includes(key) === true,
    }));
    const [required, optional] = [true, false].map((is) => keys.filter((key) => key.required === is));
    const doc = schema.description;
    if (optional!.length === 0) this.#define(name, toClass(name, required!, [], doc));
    else if (required!.length === 0) this.#define(name, toClass(name, optional!, ['total=False'], doc));
    else {
      this.#define(`_${name}`, toClass(`_${name}`, required!, [], undefined));
      this.#define(name, toClass(name, optional!, [`_${name}`, 'total=False'], doc));
    }
    return name;
  }

  #define(name: string, source: string): void {
    this.#defined.set(name, source);
  }
}

interface Key {
  key: string;
  type: string;
  comment: string | undefined;
}

function toClass(name: string, keys: readonly Key[], bases: readonly string[], doc: string | undefined): string {
  const comment = (key: Key): string[] => (key.comment ? [`    # ${key.comment}`] : []);
  if (keys.some(({ key }) => KEYWORDS.has(key))) {
    if (bases.some((base) => base !== 'total=False')) throw new Error(`${name}: a keyword among its optional keys`);
    const rows = keys.flatMap((key) => [...comment(key), `    ${JSON.stringify(key.key)}: ${key.type},`]);
    return [`${name} = TypedDict(`, `    "${name}",`, '    {', ...rows.map((row) => `    ${row}`), '    },', ')'].join(
      '\n',
    );
  }
  const rows = keys.flatMap((key) => [...comment(key), `    ${key.key}: ${key.type}`]);
  const parents = bases.some((base) => base !== 'total=False') ? bases : ['TypedDict', ...bases];
  return [`class ${name}(${parents.join(', ')}):`, ...(doc ? [`    """${doc}."""`, ''] : []), ...rows].join('\n');
}
