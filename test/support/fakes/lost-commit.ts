import type { Db } from '../../../src/lib/db/db.ts';

/** Commits transactions and then throws, as if the connection had closed before the reply to `commit`. */
export function losingCommits(db: Db, beforeError: () => Promise<void>): Db {
  return new Proxy(db, {
    get(target, name) {
      if (name !== 'begin') return Reflect.get(target, name);
      return async (mode: string, work: Parameters<Db['begin']>[1]) => {
        await target.begin(mode, work);
        await beforeError();
        throw Object.assign(new Error('write CONNECTION_CLOSED'), { code: 'CONNECTION_CLOSED' });
      };
    },
  });
}
