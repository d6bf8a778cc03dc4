import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Db } from '../src/lib/db/db.ts';
import { awaitPostgres, judgePooled } from '../src/open-sessions.ts';
import { proxyTo } from './support/fakes/database-proxy.ts';
import { testDatabase } from './support/probe/database.ts';

const { db, url } = await testDatabase();

test('one connection shows that a database answers and has no pooler in front of it', async () => {
  const way = await proxyTo(url);
  await awaitPostgres(way.url, 'DATABASE_URL', { seconds: 20, say: () => {} });
  assert.equal(way.made(), 1);
});

for (const [seconds, looks] of [
  [20, 2],
  [0, 1],
] as const) {
  test(`a look that loses its connection is taken ${looks === 2 ? 'again' : 'once'} when ${seconds} seconds may pass`, async (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() });
    let looked = 0;
    const lost = Object.assign(new Error('lost'), { code: 'CONNECTION_CLOSED' });
    /** Postgres itself, which the first look finds gone just before the time is over. */
    const losing = new Proxy(db, {
      async apply(real, _, [strings, ...values]: Parameters<Db>) {
        looked += 1;
        if (looked > 1) return await real(strings, ...values);
        t.mock.timers.tick(Math.max(0, seconds * 1000 - 1));
        throw lost;
      },
    });
    const patience = { seconds, say: () => {} };
    const judged = judgePooled(url, { sessions: { db: losing, url }, patience });
    if (looks === 2) assert.equal((await judged).mode, 'none');
    else await assert.rejects(judged, lost);
    assert.equal(looked, looks);
  });
}
