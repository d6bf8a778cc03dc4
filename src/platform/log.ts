import pino from 'pino';

export type Log = pino.Logger;
export type LogLevel = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace';

/** JSON lines on stderr: stdout belongs to the data that a command prints. */
export function createLog({ level }: { level: LogLevel | 'silent' }): Log {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    pino.destination({ dest: 2, sync: true }),
  );
}
