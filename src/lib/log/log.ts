// The log: JSON lines with a closed list of fields, readable on a terminal.

import pino from 'pino';
import { describeError } from './log-error.ts';
import { terminalLine } from './log-terminal.ts';

export type LogLevel = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace';

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

type Write = {
  (fields: Fields, message: string): void;
  (message: string): void;
};
export type Log = Record<LogLevel, Write>;

type LogOptions = {
  level: LogLevel | 'silent';
  /** Fields that lines may have in addition to those of the libraries. */
  fields?: readonly (keyof LogFields)[];
  /** Where the lines go; standard error, as JSON, or readable on a terminal. */
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

function pick(allowed: readonly string[], given: Record<string, unknown>): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  for (const name of allowed) {
    const value = given[name];
    if (value === undefined || value === null) continue;
    fields[name] = value;
  }
  return fields;
}

function standardError(): pino.DestinationStream {
  if (!process.stderr.isTTY) return pino.destination({ dest: 2, sync: true });
  const colors = process.stderr.hasColors();
  return { write: (line) => void process.stderr.write(terminalLine(line, { colors })) };
}
