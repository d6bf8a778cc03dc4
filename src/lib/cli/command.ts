import { parseArgs } from 'node:util';
import * as v from 'valibot';
import { isMailable } from '../smtp/address.ts';
import { isInCalendar, Line, Uuid } from '../validation/parse.ts';

type Catalog<Tools> = { name: string; about: string; commands: readonly Command<Tools>[] };

/** Runs the command that the first words name. The default is the first command of the catalog. */
export async function runCommandLine<Tools>(
  catalog: Catalog<Tools>,
  tools: Tools,
  words: readonly string[],
): Promise<CommandOutcome> {
  const [first, second] = words;
  if (first === '--help' || first === '-h' || first === 'help') {
    return { output: overview(catalog, words.slice(1).join(' ')), exitCode: 0 };
  }
  const match = findCommand(catalog, words);
  const rest = match ? words.slice(match.length) : [];
  const version = catalog.commands.find(({ name }) => name === 'version');
  if (version && ['--version', '-v', '-V'].includes(rest[0] ?? '')) {
    return await version.run(tools, rest.slice(1), catalog.name);
  }
  if (match) return await match.command.run(tools, rest, catalog.name);

  const group = groupOf(catalog, first ?? '');
  if (group.length > 0 && (second === '--help' || second === '-h')) {
    return { output: listing(group), exitCode: 0 };
  }
  throw new UsageError(describeUnknown(catalog, words, group), hint(catalog.name, group));
}

function findCommand<Tools>({ commands }: Catalog<Tools>, words: readonly string[]) {
  const [first] = words;
  if (first === undefined || first.startsWith('-')) return { command: commands[0]!, length: 0 };
  for (const length of [2, 1]) {
    const command = commands.find(({ name }) => name === words.slice(0, length).join(' '));
    if (command) return { command, length };
  }
  return undefined;
}

const groupOf = <Tools>({ commands }: Catalog<Tools>, word: string) =>
  commands.filter(({ name }) => name.startsWith(`${word} `));

const listing = <Tools>(commands: readonly Command<Tools>[]) =>
  columns(commands.map(({ name, does }) => [name, does]));

function describeUnknown<Tools>(
  { commands }: Catalog<Tools>,
  words: readonly string[],
  group: readonly Command<Tools>[],
) {
  const [first = '', second] = words;
  const isAlone = second === undefined || second.startsWith('-');
  if (group.length > 0 && isAlone) return `'${first}' needs a subcommand`;
  const names = commands.map(({ name }) => name);
  const both = `${first} ${second}`;
  if (group.length > 0) return `'${both}' is not a command${didYouMean(both, names)}`;
  const firsts = [...new Set(names.map((name) => name.split(' ')[0]!))];
  const suggestion = didYouMean(both, isAlone ? [] : names) || didYouMean(first, firsts);
  return `'${first}' is not a command${suggestion}`;
}

function hint<Tools>(program: string, group: readonly Command<Tools>[]): string {
  if (group.length === 0) return `COMMAND; ${program} --help lists the commands`;
  return group.map(({ name }) => name).join(` | ${program} `);
}

function overview<Tools>(catalog: Catalog<Tools>, about: string): string {
  const named = catalog.commands.find(({ name }) => name === about);
  if (named) return named.help(catalog.name);
  const group = groupOf(catalog, about);
  if (group.length > 0) return listing(group);
  const { name, commands } = catalog;
  return `${catalog.about}\n\nusage: ${name} [COMMAND] [OPTIONS]\n\n${listing(commands)}\n\nRun ${name} COMMAND --help for the options of a command, and ${name} --version for the version.`;
}

export const Name = Line(200);

export const Email = v.pipe(v.string(), v.trim(), v.check(isMailable, 'must be an email address'));

export const Color = v.pipe(
  v.string(),
  v.toLowerCase(),
  v.regex(/^#[0-9a-f]{6}$/, "must be a color such as '#2F6FED'"),
);

export const Whole = (minimum: number, maximum: number) =>
  v.pipe(
    v.string(),
    v.regex(/^\d{1,15}$/, 'must be a whole number'),
    v.toNumber(),
    v.minValue(minimum, `must be at least ${minimum}`),
    v.maxValue(maximum, `must be at most ${maximum}`),
  );

const momentForm = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,6})?)?(Z|[+-]\d\d:\d\d))?$/;

const MomentText = v.pipe(
  v.string(),
  v.regex(momentForm, 'must be an ISO 8601 time such as 2027-01-31 or 2027-01-31T12:00:00Z'),
  v.check(isInCalendar, 'must be a time that exists'),
);

/** A day, meaning its start in UTC, or a time with its offset. */
export const Moment = v.pipe(
  MomentText,
  v.transform((text) => new Date(text)),
);

/** Keeps a day as text, because the caller computes its start in another time zone. */
export const DayOrMoment = v.pipe(
  MomentText,
  v.transform((text) => (text.length === 10 ? { day: text } : { moment: new Date(text) })),
);

export const OneOf = <const W extends readonly string[]>(words: W) =>
  v.picklist(words, `must be one of ${words.join(', ')}`);

export const option = <S extends v.GenericSchema>(schema: S, value: string, does: string) =>
  ({ schema, value, does }) satisfies Option;

export const optional = <S extends v.GenericSchema>(schema: S, value: string, does: string) =>
  ({ schema: v.optional(schema), value, does }) satisfies Option;

export const flag = (does: string) =>
  ({ schema: v.optional(v.boolean(), false), value: null, does }) satisfies Option;

export const id = (does: string) => option(Uuid, 'ID', does);

/** Removes the defaults from the help of options, for commands that change a record. */
export const withoutDefaults = <const O extends Options>(options: O): O =>
  Object.fromEntries(
    Object.entries(options).map(([name, each]) => [
      name,
      { ...each, does: each.does.replace(/ \([^()]*\)$/, '') },
    ]),
  ) as unknown as O;

/** Printed with the usage of the command. Exit code 2. */
export class UsageError extends Error {
  readonly usage: string;

  constructor(message: string, usage: string) {
    super(message);
    this.name = 'UsageError';
    this.usage = usage;
  }
}

export type Option<S extends v.GenericSchema = v.GenericSchema> = {
  schema: S;
  /** The placeholder of the value in the usage; null for a flag. */
  value: string | null;
  does: string;
  repeatable?: true;
};

export type Options = Readonly<Record<string, Option>>;

export type Values<O extends Options> = {
  [Name in keyof O]: v.InferOutput<O[Name]['schema']>;
};

export type CommandAnswer = { data: unknown; text: string; exitCode?: 0 | 1 };

export type Definition<Tools, O extends Options> = {
  name: string;
  does: string;
  options: O;
  /** Options given as positional arguments, in this order. */
  operands?: readonly (keyof O & string)[];
  /** Returns undefined if the command has printed its output itself. */
  run: (
    tools: Tools,
    values: Values<O>,
    how: { json: boolean },
  ) => Promise<CommandAnswer | undefined>;
};

export type Command<Tools> = {
  name: string;
  does: string;
  usage: string;
  help: (program: string) => string;
  run: (tools: Tools, words: readonly string[], program: string) => Promise<CommandOutcome>;
};

type CommandOutcome = { output: string; exitCode: number };

/** Declares a command. Usage, help and validation follow from its options. */
export function command<Tools, const O extends Options>(
  definition: Definition<Tools, O>,
): Command<Tools> {
  const { name, does, run } = definition;
  const usage = usageOf(definition);
  const help = (program: string) => helpOf(definition, `usage: ${program} ${usage}`);
  return {
    name,
    does,
    usage,
    help,
    run: async (tools, words, program) => {
      const parsed = parseWords(definition, words, usage);
      if (parsed['help']) return { output: help(program), exitCode: 0 };
      const json = parsed['json'] === true;
      const values = validateValues(definition, parsed, usage);
      const answer = await run(tools, values, { json });
      if (!answer) return { output: '', exitCode: 0 };
      const output = json ? JSON.stringify(answer.data) : answer.text;
      return { output, exitCode: answer.exitCode ?? 0 };
    },
  };
}

const commonOptions = { json: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } } as const;

type ParsedWords = Record<string, unknown>;

function parseWords<T, O extends Options>(
  { options, operands = [] }: Definition<T, O>,
  words: readonly string[],
  usage: string,
): ParsedWords {
  const named = Object.entries(options).filter(([name]) => !operands.includes(name));
  const types = named.map(([name, { value, repeatable = false }]) => [
    name,
    { type: value === null ? 'boolean' : 'string', multiple: repeatable },
  ]);
  const parsed = explainErrors(usage, [...named.map(([name]) => name), 'json', 'help'], () =>
    parseArgs({
      args: [...words],
      options: { ...Object.fromEntries(types), ...commonOptions },
      allowPositionals: operands.length > 0,
      tokens: true,
    }),
  );
  refuseRepeats(parsed.tokens, options, usage);
  const { positionals } = parsed;
  if (positionals.length > operands.length) {
    throw new UsageError(`unexpected argument '${positionals[operands.length]}'`, usage);
  }
  return {
    ...parsed.values,
    ...Object.fromEntries(positionals.map((word, place) => [operands[place], word])),
  };
}

/** Turns Node's message into a usage error. Only its first sentence is for users. */
function explainErrors<T>(usage: string, names: readonly string[], parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    const [sentence = ''] = (error as Error).message.split(/(?<=['>])\. |\n/);
    const message = sentence.replace(/^./, (letter) => letter.toLowerCase());
    const [, bare, problem] =
      /^option '(?:.*, )?(--[^' ]+).*' argument (is ambiguous|missing)/.exec(message) ?? [];
    if (bare) {
      const hint = problem === 'missing' ? '' : `; for a value with a dash, use ${bare}=-VALUE`;
      throw new UsageError(`${bare} needs a value${hint}`, usage);
    }
    const [, unknown] = /^unknown option '(--[^']+)'/.exec(message) ?? [];
    const suggestion = didYouMean(
      unknown ?? '',
      names.map((name) => `--${name}`),
    );
    throw new UsageError(message + (unknown ? suggestion : ''), usage);
  }
}

type Token = { kind: string; name?: string };

function refuseRepeats(tokens: readonly Token[], options: Options, usage: string) {
  const seen = new Set<string>();
  for (const { kind, name } of tokens) {
    if (kind !== 'option' || !name || options[name]?.repeatable) continue;
    if (seen.has(name)) throw new UsageError(`--${name} can be used only once`, usage);
    seen.add(name);
  }
}

function validateValues<T, O extends Options>(
  { options, operands = [] }: Definition<T, O>,
  parsed: ParsedWords,
  usage: string,
): Values<O> {
  const errors: string[] = [];
  const values: ParsedWords = {};
  for (const [name, { schema }] of Object.entries(options)) {
    const label = operands.includes(name) ? name.toUpperCase() : `--${name}`;
    const result = v.safeParse(schema, parsed[name]);
    if (result.success) values[name] = result.output;
    else if (parsed[name] === undefined) errors.push(`${label} is required`);
    else errors.push(`${label} ${result.issues[0].message}`);
  }
  if (errors.length > 0) throw new UsageError(errors.join('; '), usage);
  return values as Values<O>;
}

function usageOf<T, O extends Options>({ name, options, operands = [] }: Definition<T, O>): string {
  const words = Object.entries(options).map(([option, { value, schema, repeatable }]) => {
    const isOptional = schema.type === 'optional';
    if (operands.includes(option)) {
      return isOptional ? `[${option.toUpperCase()}]` : option.toUpperCase();
    }
    const word = value === null ? `--${option}` : `--${option} ${value}`;
    const many = repeatable ? '...' : '';
    return isOptional ? `[${word}]${many}` : word + many;
  });
  return [name, ...words, '[--json]'].join(' ');
}

function helpOf<T, O extends Options>(definition: Definition<T, O>, usage: string): string {
  const { does, options, operands = [] } = definition;
  const rows = Object.entries(options).map(([option, { value, does: meaning }]) => {
    if (operands.includes(option)) return [option.toUpperCase(), meaning];
    return [`--${option}${value === null ? '' : ` ${value}`}`, meaning];
  });
  rows.push(['--json', 'print JSON'], ['--help', 'print this help']);
  return `${does}\n\n${usage}\n\n${columns(rows)}`;
}

export function columns(rows: readonly (readonly unknown[])[]): string {
  const cells = rows.map((row) => row.map((cell) => String(cell ?? '-')));
  const widths = (cells[0] ?? []).map((_, place) =>
    Math.max(...cells.map((row) => row[place]?.length ?? 0)),
  );
  const line = (row: string[]) => row.map((cell, place) => cell.padEnd(widths[place] ?? 0));
  return cells.map((row) => line(row).join('  ').trimEnd()).join('\n');
}

/** Suggests the nearest word, or returns an empty string. */
export function didYouMean(input: string, words: readonly string[]): string {
  const maxEdits = Math.max(1, Math.floor(input.length / 3));
  const [nearest] = words
    .map((word) => ({ word, edits: editDistance(input, word) }))
    .filter(({ edits }) => edits <= maxEdits)
    .sort((one, other) => one.edits - other.edits);
  return nearest ? `; did you mean '${nearest.word}'?` : '';
}

/** Damerau-Levenshtein distance. */
function editDistance(one: string, other: string): number {
  let before: number[] = [];
  let row = Array.from({ length: other.length + 1 }, (_, place) => place);
  for (let line = 1; line <= one.length; line++) {
    const next = [line];
    for (let place = 1; place <= other.length; place++) {
      const change = row[place - 1]! + (other[place - 1] === one[line - 1] ? 0 : 1);
      const isSwap = one[line - 1] === other[place - 2] && one[line - 2] === other[place - 1];
      const swap = isSwap ? before[place - 2]! + 1 : change;
      next.push(Math.min(change, swap, row[place]! + 1, next[place - 1]! + 1));
    }
    [before, row] = [row, next];
  }
  return row[other.length]!;
}

export function createProgress(what: string, stream: NodeJS.WriteStream = process.stderr) {
  return (done: number, total: number) => {
    if (!stream.isTTY) return;
    const end = done >= total ? '\n' : '';
    stream.write(`\r${what}: ${done} of ${total}${end}`);
  };
}
