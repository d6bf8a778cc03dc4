import { type AppTools, createApp } from '../../src/app.ts';
import type { Db } from '../../src/platform/db.ts';
import { createLog } from '../../src/platform/log.ts';

/** The whole web application on a test's database, called without a port. */
export function testApp(db: Db, over: Partial<AppTools> = {}) {
  return createApp({
    db,
    log: createLog({ level: 'silent' }),
    settings: { rateLimit: 1_000_000 },
    pump: () => {},
    checks: {},
    ...over,
  });
}
