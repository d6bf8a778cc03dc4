// The log: JSON lines with a closed list of fields, readable on a terminal.

import pino from 'pino';
import { describeError } from './log-error.ts';
import { terminalLine } from './log-terminal.ts';

export type LogLevel = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace';

/**
 * What a line may have in addition to its message; anything else does not reach it. Ids, counts and words of the
 * service itself: no address, no name, no comment, no token, nothing that a server or a database said.
 */
const allowed = [
  ...[
    'err',
    'method',
    'route',
    'status',
    'event',
    'type',
    'category',
    'held',
    'attempt',
    'outcome',
  ],
  ...[
    'error',
    'why',
    'task',
    'job',
    'runner',
    'restarts',
    'part',
    'from',
    'count',
    'ms',
    'request_id',
  ],
  ...['trace_id', 'delivery_id', 'send_id', 'response_id', 'webhook_id', 'survey_id', 'org_id'],
] as const;

type Field = (typeof allowed)[number];
export type Fields = { [Name in Field]?: Name extends 'err' ? unknown : string | number | null };

type Write = {
  (fields: Fields, message: string): void;
  (message: string): void;
};
export type Log = Record<LogLevel, Write>;

type LogOptions = {
  level: LogLevel | 'silent';
  /** Where the lines go; standard error, as JSON, or readable on a terminal. */
  to?: pino.DestinationStream;
};

/** JSON lines on stderr: stdout belongs to the data that a command prints. */
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

function pickAllowed(given: Record<string, unknown>): Record<string, unknown> {
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
