import { parseArgs } from 'node:util';
import * as v from 'valibot';
import { didYouMean } from './suggest.ts';

/** What the caller typed cannot be carried out: printed with the usage, which follows the program's name; exit code 2. */
export class UsageError extends Error {
  readonly usage: string;

  constructor(message: string, usage: string) {
    super(message);
    this.name = 'UsageError';
    this.usage = usage;
  }
}

/** One option, `--name` or `--name VALUE`. Its schema checks the text; an optional schema means it may be left out. */
export type Option<S extends v.GenericSchema = v.GenericSchema> = {
  schema: S;
  /** What stands for the value in the usage; null for a switch. */
  value: string | null;
  does: string;
  repeatable?: true;
};

export type Options = Readonly<Record<string, Option>>;

export type Values<O extends Options> = {
  [Name in keyof O]: v.InferOutput<O[Name]['schema']>;
};

/** What a command answers: the value for `--json`, the same for people, and 1 when it found something wrong. */
export type CommandAnswer = { data: unknown; text: string; exitCode?: 0 | 1 };

type Definition<Tools, O extends Options> = {
  name: string;
  does: string;
  options: O;
  /** Names of arguments without dashes, taken in this order: `FILE` say. */
  operands?: readonly (keyof O & string)[];
  /** Returns undefined when the command has printed its output while it ran. */
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

/** What is left to do after a command ran: print this on stdout, and end with this code. */
export type CommandOutcome = { output: string; exitCode: number };

/** Declares a command: its usage and help follow from its options, and its words are checked before it runs. */
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
      const given = readWords(definition, words, usage);
      if (given['help']) return { output: help(program), exitCode: 0 };
      const json = given['json'] === true;
      const values = checkValues(definition, given, usage);
      const answer = await run(tools, values, { json });
      if (!answer) return { output: '', exitCode: 0 };
      const output = json ? JSON.stringify(answer.data) : answer.text;
      return { output, exitCode: answer.exitCode ?? 0 };
    },
  };
}

const spelled = { json: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } } as const;

type Words = Record<string, unknown>;

function readWords<T, O extends Options>(
  { options, operands = [] }: Definition<T, O>,
  words: readonly string[],
  usage: string,
): Words {
  const dashed = Object.entries(options).filter(([name]) => !operands.includes(name));
  const known = dashed.map(([name, { value, repeatable = false }]) => [
    name,
    { type: value === null ? 'boolean' : 'string', multiple: repeatable },
  ]);
  const parsed = parsing(usage, [...dashed.map(([name]) => name), 'json', 'help'], () =>
    parseArgs({
      args: [...words],
      options: { ...Object.fromEntries(known), ...spelled },
      allowPositionals: operands.length > 0,
      tokens: true,
    }),
  );
  refuseTwice(parsed.tokens, options, usage);
  const { positionals } = parsed;
  if (positionals.length > operands.length) {
    throw new UsageError(`'${positionals[operands.length]}' is one argument too many`, usage);
  }
  return {
    ...parsed.values,
    ...Object.fromEntries(positionals.map((word, place) => [operands[place], word])),
  };
}

/** Node's complaint, cut to its first sentence: the rest is advice for programmers. */
function parsing<T>(usage: string, names: readonly string[], parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    const [sentence = ''] = (error as Error).message.split(/(?<=['>])\. |\n/);
    const complaint = sentence.replace(/^./, (letter) => letter.toLowerCase());
    const [, bare, how] =
      /^option '(?:.*, )?(--[^' ]+).*' argument (is ambiguous|missing)/.exec(complaint) ?? [];
    if (bare) {
      const dashed = `has no value before the next option; a value that begins with a dash is written ${bare}=-VALUE`;
      throw new UsageError(`${bare} ${how === 'missing' ? 'needs a value' : dashed}`, usage);
    }
    const [, unknown] = /^unknown option '(--[^']+)'/.exec(complaint) ?? [];
    const meant = didYouMean(
      unknown ?? '',
      names.map((name) => `--${name}`),
    );
    throw new UsageError(complaint + (unknown ? meant : ''), usage);
  }
}

type Token = { kind: string; name?: string };

function refuseTwice(tokens: readonly Token[], options: Options, usage: string) {
  const seen = new Set<string>();
  for (const { kind, name } of tokens) {
    if (kind !== 'option' || !name || options[name]?.repeatable) continue;
    if (seen.has(name)) throw new UsageError(`--${name} is given twice`, usage);
    seen.add(name);
  }
}

/** Every complaint at once, each by the name of its option. */
function checkValues<T, O extends Options>(
  { options, operands = [] }: Definition<T, O>,
  given: Words,
  usage: string,
): Values<O> {
  const complaints: string[] = [];
  const values: Words = {};
  for (const [name, { schema }] of Object.entries(options)) {
    const spoken = operands.includes(name) ? name.toUpperCase() : `--${name}`;
    const result = v.safeParse(schema, given[name]);
    if (result.success) values[name] = result.output;
    else if (given[name] === undefined) complaints.push(`${spoken} is required`);
    else complaints.push(`${spoken} ${result.issues[0].message}`);
  }
  if (complaints.length > 0) throw new UsageError(complaints.join('; '), usage);
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
  rows.push(['--json', 'print one JSON value'], ['--help', 'print this']);
  return `${does}\n\n${usage}\n\n${columns(rows)}`;
}

/** Rows of words under each other, two spaces apart. */
export function columns(rows: readonly (readonly unknown[])[]): string {
  const cells = rows.map((row) => row.map((cell) => String(cell ?? '-')));
  const widths = (cells[0] ?? []).map((_, place) =>
    Math.max(...cells.map((row) => row[place]?.length ?? 0)),
  );
  const line = (row: string[]) => row.map((cell, place) => cell.padEnd(widths[place] ?? 0));
  return cells.map((row) => line(row).join('  ').trimEnd()).join('\n');
}
