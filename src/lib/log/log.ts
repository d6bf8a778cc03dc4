import { styleText } from 'node:util';
import pino from 'pino';

/**
 * Logs an outage once at its beginning and once when it is over, however many meet it and however often they try: it
 * is over when all that failed have worked again.
 */
export function createOutage(log: Log, words: { begins: string; over: string }) {
  const failing = new Set<object>();
  return {
    failed(what: object, fields: Fields) {
      log[failing.size === 0 ? 'warn' : 'debug'](fields, words.begins);
      failing.add(what);
    },
    worked(what: object) {
      if (failing.delete(what) && failing.size === 0) log.info(words.over);
    },
  };
}

type LogLevel = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace';

/**
 * What a line may have in addition to its message; anything else does not reach it. These are the fields of the
 * libraries. The program adds its own to `LogFields`, for the compiler, and passes their names to `createLog`:
 *
 *     declare module './lib/log/log.ts' { interface LogFields { order_id?: LogValue } }
 *     const log = createLog({ level: 'info', fields: ['order_id'] });
 */
const ownFields = [
  'err',
  'method',
  'route',
  'status',
  'attempt',
  'error',
  'why',
  'task',
  'job',
  'restarts',
  'part',
  'from',
  'count',
  'ms',
  'request_id',
  'trace_id',
] as const;

export type LogValue = string | number | null;
// biome-ignore lint/suspicious/noEmptyInterface: a program adds its fields to it
export interface LogFields {}
export type Fields = LogFields & {
  [Name in (typeof ownFields)[number]]?: Name extends 'err' ? unknown : LogValue;
};

export type Log = Record<
  LogLevel,
  { (fields: Fields, message: string): void; (message: string): void }
>;

type LogOptions = {
  level: LogLevel | 'silent';
  fields?: readonly (keyof LogFields)[];
  to?: pino.DestinationStream;
};

/** JSON lines on stderr: stdout belongs to the data that a command prints. */
export function createLog({ level, fields = [], to = standardError() }: LogOptions): Log {
  const allowed = [...ownFields, ...fields];
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }), log: (given) => pick(allowed, given) },
      serializers: { err: describeError },
    },
    to,
  );
}

const pick = (allowed: readonly string[], fields: Record<string, unknown>) =>
  Object.fromEntries(
    allowed.filter((name) => fields[name] != null).map((name) => [name, fields[name]]),
  );

function standardError(): pino.DestinationStream {
  if (!process.stderr.isTTY) return pino.destination({ dest: 2, sync: true });
  const colors = process.stderr.hasColors();
  return { write: (line) => void process.stderr.write(terminalLine(line, { colors })) };
}

type Described = {
  type: string;
  code?: string;
  message: string;
  stack?: string;
  cause?: Described;
};

const maxCauses = 5;

/**
 * An error as a log may keep it: where it happened and what kind it is, without the values that a
 * database, a parser or a mail server quotes in its message.
 */
function describeError(error: unknown, causesLeft = maxCauses): Described {
  if (!(error instanceof Error))
    return { type: typeof error, message: withoutValues(String(error)) };
  const { code } = error as { code?: unknown };
  const hasCause = error.cause instanceof Error && causesLeft > 0;
  // What is said may have lines that look like frames.
  const frames = error.stack
    ?.replace(error.message, '')
    .split('\n')
    .filter((line) => /^\s+at /.test(line));
  return {
    type: error.name,
    ...(typeof code === 'string' ? { code } : {}),
    message: withoutValues(error.message),
    ...(frames && frames.length > 0 ? { stack: frames.join('\n') } : {}),
    ...(hasCause ? { cause: describeError(error.cause, causesLeft - 1) } : {}),
  };
}

const quoted =
  /((?:relation|column|constraint|table|function|index|type|schema|role|database|extension|property) )?(["'`])(.*?)\2/gs;
const address = /[^\s<>]+@[^\s<>]+/g;
const longWord = /[A-Za-z0-9_-]{20,}/g;
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** A value that may have quotes in it: after Postgres' colon, and in what JSON.parse shows of a text. */
const lastValue = /: "(.*)"$/s;
const jsonText = /, (\.\.\.)?"(.*)"(\.\.\.)? is not valid JSON$/s;

/** A longer message holds somebody's text, and would take long to be searched. */
const maxMessage = 1000;

/** Names of things in the database stay, and ids; what is quoted else, addresses and tokens do not. */
export function withoutValues(message: string): string {
  // A value that is cut off has no end that it could be found by.
  const beginning =
    message.length > maxMessage ? message.slice(0, maxMessage).replace(/["'`].*$/s, '…') : message;
  return beginning
    .replace(lastValue, ': "…"')
    .replace(jsonText, ', "…" is not valid JSON')
    .replace(quoted, (whole, thing) => (thing ? whole : '"…"'))
    .replace(address, '…')
    .replace(longWord, (word) => (isToken(word) ? '…' : word));
}

const isToken = (word: string) => /\d/.test(word) && /[A-Za-z]/.test(word) && !uuid.test(word);

const colorOf: Record<string, Parameters<typeof styleText>[0]> = {
  fatal: 'red',
  error: 'red',
  warn: 'yellow',
  info: 'green',
};

export function terminalLine(line: string, { colors }: { colors: boolean }): string {
  const { level, time, msg, err, ...fields } = JSON.parse(line) as Record<string, unknown>;
  const paint = (style: Parameters<typeof styleText>[0], text: string) =>
    colors ? styleText(style, text, { validateStream: false }) : text;
  const words = Object.entries(fields).map(
    ([name, value]) => `${paint('dim', `${name}=`)}${value}`,
  );
  const head = [
    paint('dim', new Date(String(time)).toTimeString().slice(0, 8)),
    paint(colorOf[String(level)] ?? 'dim', String(level).padEnd(5)),
    String(msg),
  ];
  return `${[...head, ...words].join(' ')}\n${err ? `${errorText(err as Described)}\n` : ''}`;
}

function errorText({ type, code, message, stack, cause }: Described): string {
  const what = `  ${type}${code ? ` ${code}` : ''}: ${message}`;
  const because = cause ? `\n  because:\n${errorText(cause)}` : '';
  return `${what}${stack ? `\n${stack}` : ''}${because}`;
}
