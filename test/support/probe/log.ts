import type { Log } from '../../../src/lib/log/log.ts';

/** A log that keeps its lines, with debug lines on request: level, message and fields, and the message of an error. */
export function keptLog({ debugged = false } = {}) {
  const lines: [level: string, words: string, fields: Record<string, unknown>][] = [];
  const keep = (level: string) => (fields: object | string, words?: string) => {
    if (typeof fields === 'string') return void lines.push([level, fields, {}]);
    const plain = Object.entries(fields).map(([name, value]) => [
      name,
      value instanceof Error ? value.message : value,
    ]);
    lines.push([level, words!, Object.fromEntries(plain)]);
  };
  const [info, warn, error, fatal] = ['info', 'warn', 'error', 'fatal'].map(keep);
  const debug = debugged ? keep('debug') : () => {};
  return { lines, log: { info, warn, error, fatal, debug, trace() {} } as unknown as Log };
}
