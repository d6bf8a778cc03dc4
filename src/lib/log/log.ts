import { styleText } from 'node:util';
import pino from 'pino';

/** Logs an outage once when it begins and once when every subject that failed has recovered. */
export function createOutage(log: Log, words: { begins: string; over: string }) {
  const failing = new Set<object>();
  return {
    failed(subject: object, fields: Fields) {
      log[failing.size === 0 ? 'warn' : 'debug'](fields, words.begins);
      failing.add(subject);
    },
    worked(subject: object) {
      if (failing.delete(subject) && failing.size === 0) log.info(words.over);
    },
  };
}

type LogLevel = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace';

/**
 * Fields that a log line may have. Any other field is dropped. Only ids, counts and our own words: no addresses, names,
 * comments, tokens, or messages of servers and databases.
 */
const allowedFields = [
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
  'event',
  'type',
  'category',
  'held',
  'outcome',
  'delivery_id',
  'send_id',
  'response_id',
  'webhook_id',
  'survey_id',
  'org_id',
] as const;

export type Fields = {
  [Name in (typeof allowedFields)[number]]?: Name extends 'err' ? unknown : string | number | null;
};

export type Log = Record<
  LogLevel,
  { (fields: Fields, message: string): void; (message: string): void }
>;

type LogOptions = { level: LogLevel | 'silent'; to?: pino.DestinationStream };

/** Writes JSON lines to stderr, because commands print data to stdout. */
export function createLog({ level, to = standardError() }: LogOptions): Log {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }), log: pickAllowed },
      serializers: { err: describeError },
    },
    to,
  );
}

const pickAllowed = (fields: Record<string, unknown>) =>
  Object.fromEntries(
    allowedFields.filter((name) => fields[name] != null).map((name) => [name, fields[name]]),
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

/** Describes an error without the values that a database, a parser or a mail server quotes in its message. */
function describeError(error: unknown, causesLeft = maxCauses): Described {
  if (!(error instanceof Error))
    return { type: typeof error, message: withoutValues(String(error)) };
  const { code } = error as { code?: unknown };
  const hasCause = error.cause instanceof Error && causesLeft > 0;
  // The message may have lines that look like frames.
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

/**
 * Patterns for values that may contain quotes: after the colon in a message of Postgres, and in a message of
 * JSON.parse.
 */
const lastValue = /: "(.*)"$/s;
const jsonText = /, (\.\.\.)?"(.*)"(\.\.\.)? is not valid JSON$/s;

/** Longer messages contain user text and are slow to search. */
const maxMessage = 1000;

/** Removes quoted values, addresses and tokens. Keeps ids and names of database objects. */
export function withoutValues(message: string): string {
  // A value that is cut off has no closing quote.
  const shortened =
    message.length > maxMessage ? message.slice(0, maxMessage).replace(/["'`].*$/s, '…') : message;
  return shortened
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
