/**
 * Settings of a program: one zod object whose fields carry the default, the unit and one line of help. Flags
 * (`--group-size 8`, `--group-size=8`, `--no-resume`), variables (`CANVAS_GYM_GROUP_SIZE`), defaults, the help text and
 * the typed result all come from it. A flag wins over a variable, a variable over the default.
 *
 *   const Settings = z.strictObject({
 *     group_size: z.number().int().min(2).default(8).meta({ description: 'Episodes of each task', unit: 'episodes' }),
 *     resume: z.boolean().default(true).describe('Take up the last checkpoint'),
 *     splits: z.array(Split).default(['val']).describe('Splits, separated by commas'),
 *     run: z.string().meta({ description: 'Run folder', positional: true }),
 *     secret: z.string().optional().meta({ description: 'Signs the states', secret: true }),
 *   });
 *
 * Left out: nested settings and settings files. A program with many settings is several programs.
 */
import { closest } from 'fastest-levenshtein';
import { z } from 'zod';

const ENV_PREFIX = 'CANVAS_GYM_';

/** What a settings field may carry in `.meta()`. `.describe(text)` is short for a description alone. */
interface SettingMeta {
  description?: string | undefined;
  /** Unit of the value, plural: `episodes`, `ms`, `tokens`. */
  unit?: string | undefined;
  /** Given by place, in the order of declaration, or by flag; a list takes all that is left. */
  positional?: boolean | undefined;
  /** Printed as `***`, never written to a run folder. */
  secret?: boolean | undefined;
}

export type SettingsSchema = z.ZodObject;
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Sets of defaults by name: the setting `preset` chooses one, and what it says stands in for the defaults of the fields.
 * Flags and variables win over it.
 */
export type Presets = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** Wrong use of the command line or of a variable: exit code 2. `problems` has one line for each fault. */
export class UsageError extends Error {
  readonly code = 'usage';
  readonly exit_code = 2;
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.name = 'UsageError';
    this.problems = problems;
  }
}

type Kind = 'boolean' | 'list' | 'value';

interface Setting extends SettingMeta {
  key: string;
  flag: string;
  variable: string;
  kind: Kind;
  field: z.core.$ZodType;
  /** What the field holds once default, optional and nullable are taken off. */
  inner: z.core.$ZodType;
  fallback: unknown;
  optional: boolean;
}

/** Flag of a key: `group_size` -> `--group-size`. */
export function toFlag(key: string): string {
  return `--${key.replaceAll('_', '-')}`;
}

/** Variable of a key: `group_size` -> `CANVAS_GYM_GROUP_SIZE`. */
export function toVariable(key: string): string {
  return ENV_PREFIX + key.toUpperCase();
}

function wrappers(field: z.core.$ZodType): z.core.$ZodType[] {
  const chain = [field];
  for (let at = field; at instanceof z.ZodDefault || at instanceof z.ZodOptional || at instanceof z.ZodNullable;) {
    at = at.unwrap();
    chain.push(at);
  }
  return chain;
}

function describe(key: string, field: z.core.$ZodType): Setting {
  const chain = wrappers(field);
  const inner = chain.at(-1) ?? field;
  const meta = chain.reduceRight<SettingMeta>((all, link) => ({ ...all, ...z.globalRegistry.get(link) }), {});
  const outer = chain.find((link) => link instanceof z.ZodDefault);
  const kind = inner instanceof z.ZodBoolean ? 'boolean' : inner instanceof z.ZodArray ? 'list' : 'value';
  const fallback: unknown = outer?.def.defaultValue;
  const optional = outer !== undefined || field instanceof z.ZodOptional;
  return { ...meta, key, flag: toFlag(key), variable: toVariable(key), kind, field, inner, fallback, optional };
}

function settingsOf(schema: SettingsSchema): Setting[] {
  return Object.entries<z.core.$ZodType>(schema.shape).map(([key, field]) => describe(key, field));
}

/** What was given, before any value is read: texts by key, one unless it is a list, and where they come from. */
type Raw = Map<string, { source: string; texts: readonly string[] }>;

/** Items of a list in one text: separated by commas. */
function splitList({ kind }: Setting, text: string): string[] {
  return kind === 'list' ? text.split(',').map((item) => item.trim()) : [text];
}

function unknownFlag(flag: string, settings: readonly Setting[]): string {
  const flags = settings.filter((setting) => !setting.positional).map((setting) => setting.flag);
  const near = flags.length > 0 ? `; the nearest one is ${closest(flag.replace(/^--no-/, '--'), flags)}` : '';
  return `unknown flag ${flag}${near}`;
}

/** Reads one `--flag` at `argv[at]`; returns how many entries it took. */
function readFlag(argv: readonly string[], at: number, settings: readonly Setting[], raw: Raw, problems: string[]) {
  const entry = argv[at] ?? '';
  const equals = entry.indexOf('=');
  const flag = equals < 0 ? entry : entry.slice(0, equals);
  const named = settings.find((setting) => setting.flag === flag);
  const negated = settings.find((setting) => setting.kind === 'boolean' && flag === `--no-${setting.flag.slice(2)}`);
  const setting = named ?? negated;
  if (setting === undefined || (named === undefined && equals >= 0)) {
    problems.push(unknownFlag(flag, settings));
    return equals < 0 && argv[at + 1]?.startsWith('-') === false ? 2 : 1; // what follows is most likely its value
  }
  const next = argv[at + 1];
  const inline = equals < 0 ? undefined : entry.slice(equals + 1);
  const value = inline ?? (setting.kind === 'boolean' ? String(named !== undefined) : next);
  const taken = inline === undefined && setting.kind !== 'boolean' ? 2 : 1;
  if (value === undefined || (taken === 2 && value.startsWith('--'))) {
    problems.push(`${flag} needs a value`);
    return 1;
  }
  const before = setting.kind === 'list' ? (raw.get(setting.key)?.texts ?? []) : [];
  raw.set(setting.key, { source: flag, texts: [...before, ...splitList(setting, value)] });
  return taken;
}

function readArguments(argv: readonly string[], settings: readonly Setting[], problems: string[]): Raw {
  const raw: Raw = new Map();
  const places = settings.filter((setting) => setting.positional);
  const end = argv.indexOf('--');
  for (let at = 0; at < argv.length;) {
    const entry = argv[at] ?? '';
    const isFlag = entry.startsWith('-') && entry !== '-' && (end < 0 || at < end);
    if (isFlag) {
      at += readFlag(argv, at, settings, raw, problems);
      continue;
    }
    at += 1;
    if (at - 1 === end) continue;
    const place = places.find(({ key, kind }) => kind === 'list' || !raw.has(key));
    if (place)
      raw.set(place.key, { source: place.key.toUpperCase(), texts: [...(raw.get(place.key)?.texts ?? []), entry] });
    else problems.push(`unexpected argument ${JSON.stringify(entry)}`);
  }
  return raw;
}

/** Adds the variables that are set for keys without a flag; an empty variable counts as unset. */
function readVariables(env: Environment, settings: readonly Setting[], raw: Raw): void {
  for (const setting of settings) {
    const { key, variable } = setting;
    const text = env[variable];
    if (text === undefined || text === '' || raw.has(key)) continue;
    raw.set(key, { source: variable, texts: splitList(setting, text) });
  }
}

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
const WORDS: ReadonlyMap<string, boolean> = new Map([
  ...['true', '1', 'yes', 'on'].map((word) => [word, true] as const),
  ...['false', '0', 'no', 'off'].map((word) => [word, false] as const),
]);

/** The values a text may mean; the schema decides which one. */
function readings(text: string): unknown[] {
  const word = WORDS.get(text.toLowerCase());
  return [text, ...(NUMBER.test(text) ? [Number(text)] : []), ...(word === undefined ? [] : [word])];
}

/** The closed set of values a field takes, if it has one. */
function choices(field: z.core.$ZodType): unknown[] | undefined {
  if (field instanceof z.ZodEnum) return field.options;
  if (field instanceof z.ZodLiteral) return [...field.values];
  if (!(field instanceof z.ZodUnion)) return undefined;
  const parts = field.options.map(choices);
  return parts.every((part) => part !== undefined) ? parts.flat() : undefined;
}

/** The first reading the field takes, else what it says of the reading of the right type. */
function readText(text: string, field: z.core.$ZodType): { value: unknown } | { problem: string } {
  const issues: z.core.$ZodIssue[] = [];
  for (const value of readings(text)) {
    const result = z.safeParse(field, value);
    if (result.success) return { value };
    issues.push(...result.error.issues.slice(0, 1));
  }
  const options = choices(field);
  if (options) return { problem: `is not one of ${options.join(', ')}` };
  const issue = issues.find(({ code }) => code !== 'invalid_type' && code !== 'invalid_union') ?? issues[0];
  return { problem: issue?.message ?? 'is not accepted' };
}

function readList(texts: readonly string[], list: z.core.$ZodType): { value: unknown } | { problem: string } {
  if (!(list instanceof z.ZodArray)) return { problem: 'is not a list' };
  const values: unknown[] = [];
  for (const text of texts.filter((part) => part !== '')) {
    const item = readText(text, list.element);
    if ('problem' in item) return item;
    values.push(item.value);
  }
  const whole = z.safeParse(list, values);
  return whole.success ? { value: values } : { problem: whole.error.issues[0]?.message ?? 'is not accepted' };
}

function readValues(raw: Raw, settings: readonly Setting[], problems: string[]): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const setting of settings) {
    const given = raw.get(setting.key);
    if (!given) {
      if (!setting.optional)
        problems.push(`${setting.positional ? setting.key.toUpperCase() : setting.flag} is missing`);
      continue;
    }
    const { inner, secret } = setting;
    const read = setting.kind === 'list' ? readList(given.texts, inner) : readText(given.texts[0] ?? '', inner);
    const shown = secret ? '***' : JSON.stringify(given.texts.join(','));
    if ('problem' in read) problems.push(`${given.source} ${shown}: ${read.problem}`);
    else values[setting.key] = read.value;
  }
  return values;
}

/**
 * Settings from the command line, the environment and the defaults.
 * @param argv What follows the program's or command's name.
 * @param presets For a schema with a setting `preset`.
 * @throws UsageError naming every fault at once; an unknown flag names the nearest one.
 */
export function parseSettings<S extends SettingsSchema>(
  schema: S,
  argv: readonly string[],
  env: Environment,
  presets: Presets = {},
): z.output<S> {
  const settings = settingsOf(schema);
  const problems: string[] = [];
  const raw = readArguments(argv, settings, problems);
  readVariables(env, settings, raw);
  const values = readValues(raw, settings, problems);
  if (problems.length > 0) throw new UsageError(problems);
  const fallback = settings.find(({ key }) => key === 'preset')?.fallback;
  const preset = presets[String(values['preset'] ?? fallback)];
  const result = schema.safeParse({ ...preset, ...values });
  if (result.success) return result.data;
  throw new UsageError(
    result.error.issues.map((issue) => [issue.path.map(String).map(toFlag), issue.message].join(' ').trim()),
  );
}

/** The resolved settings for a run folder or a printout, secrets replaced by `***`. */
export function toPrintable(
  schema: SettingsSchema,
  values: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const hidden = new Set(
    settingsOf(schema)
      .filter((setting) => setting.secret)
      .map((setting) => setting.key),
  );
  const shown = ([key, value]: [string, unknown]) => [key, hidden.has(key) && value !== undefined ? '***' : value];
  return Object.fromEntries(Object.entries(values).map(shown) as [string, unknown][]);
}

function placeholder({ kind, inner }: Setting): string {
  const item = inner instanceof z.ZodArray ? inner.element : inner;
  const name = choices(item)?.join('|') ?? (item instanceof z.ZodNumber ? 'number' : 'text');
  return kind === 'boolean' ? '' : ` <${name}>${kind === 'list' ? ',..' : ''}`;
}

function valueText(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  const text = Array.isArray(value) ? value.join(',') : typeof value === 'string' ? value : JSON.stringify(value);
  return text === '' ? '""' : text;
}

function fallbackText({ fallback, unit, optional, positional }: Setting): string {
  if (fallback === undefined)
    return optional || positional ? (unit ?? '') : ['required', unit].filter(Boolean).join(', ');
  return `default ${valueText(fallback)}${unit === undefined ? '' : ` ${unit}`}`;
}

/** What the presets say of a setting: `full 4`. */
function presetTexts({ key }: Setting, presets: Presets): string[] {
  return Object.entries(presets).flatMap(([name, values]) =>
    key in values ? `${name} ${valueText(values[key])}` : [],
  );
}

function helpLine(setting: Setting, presets: Presets): string {
  const flag = setting.fallback === true ? `--[no-]${setting.flag.slice(2)}` : setting.flag;
  const name = setting.positional ? setting.key.toUpperCase() : flag + placeholder(setting);
  const variable = setting.positional ? '' : setting.variable;
  const notes = [fallbackText(setting), ...presetTexts(setting, presets), variable].filter(Boolean).join('; ');
  const text = `${setting.description ?? ''}${notes ? ` (${notes})` : ''}`.trim();
  return name.length > 26 ? `  ${name}\n${' '.repeat(30)}${text}` : `  ${name.padEnd(28)}${text}`;
}

/** Help text: usage line, then one line for each setting with its default, unit, values in presets, and variable. */
export function toHelp(program: string, summary: string, schema: SettingsSchema, presets: Presets = {}): string {
  const settings = settingsOf(schema);
  const places = settings.filter((setting) => setting.positional);
  const name = ({ key, kind }: Setting): string => key.toUpperCase() + (kind === 'list' ? '..' : '');
  const usage = places.map((place) => (place.optional ? `[${name(place)}]` : name(place)));
  const flags = settings.filter((setting) => !setting.positional);
  const head = ['usage:', program, ...usage, ...(flags.length > 0 ? ['[flags]'] : [])].join(' ');
  return [`${program}: ${summary}`, '', head, '', ...[...places, ...flags].map((setting) => helpLine(setting, presets))]
    .join('\n')
    .trimEnd();
}

const ServerUrl = z
  .url({ protocol: /^https?$/, error: 'is no address that begins with http:// or https://' })
  .refine((url) => !/^\w+:\/\/[^/]*@/.test(url), {
    error: 'holds a user name or password, which no request can carry',
  });

/** Settings that several commands share, so that each means the same wherever it is given. */
export const SHARED_SETTINGS = {
  url: ServerUrl.optional().describe('Address of the environment; without it one is started'),
  db: z.string().min(1).default('runs/canvas-gym.db').describe('The log, a SQLite file'),
  runs: z.string().min(1).default('runs').describe('Folder of run folders'),
};

/** Shows how far long work has come: a bar on a terminal, plain lines elsewhere. Built by `trainer/progress.ts`. */
export interface Progress {
  /** Names all stages ahead, so that each line can say which of how many it is. */
  plan: (stages: readonly string[]) => void;
  /** Begins a stage of `total` units (`tasks`, `steps`), `done` of them by an earlier process; ends the stage before. */
  start: (stage: string, total: number, unit: string, done?: number) => void;
  /** `done` units of the stage are done; a metric or two may go with it. Cheap at any rate of calls. */
  update: (done: number, metrics?: Readonly<Record<string, number>>) => void;
  /** Ends the stage, with a last word on how it went. */
  finish: (note?: string) => void;
}

/** What a command is given beside its settings. */
export interface CommandContext {
  /** Starts an environment server of its own on a free port; the command closes it. */
  startServer: () => Promise<{ url: string; close: () => Promise<void> }>;
  /** One line of result on standard output; never torn by the progress bar. */
  out: (line: string) => void;
  progress: Progress;
  /** Aborted by the first Ctrl-C: stop at the next safe place, keep what is done. A second one exits at once. */
  signal: AbortSignal;
}

/** A command of `canvas-gym`. It throws to fail (exit code 1), or a UsageError (exit code 2). */
export interface Command<S extends SettingsSchema = SettingsSchema> {
  name: string;
  /** What it does, in one line for the list of commands: `list the runs in the log`. */
  summary: string;
  settings: S;
  /** Sets of defaults that the setting `preset` chooses from, where there is one. */
  presets?: Presets;
  run(settings: z.output<S>, context: CommandContext): Promise<void>;
}

/** Ties the type of `run`'s settings to the schema: `export const command = defineCommand({ ... })`. */
export function defineCommand<S extends SettingsSchema>(command: Command<S>): Command<S> {
  return command;
}
