import type { Fields, Log } from './log.ts';

export type Outage = ReturnType<typeof createOutage>;

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
