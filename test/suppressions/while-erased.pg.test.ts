import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commandWriter } from '../../src/audit/acts.ts';
import { inTransaction } from '../../src/lib/db/db.ts';
import { beginErasure } from '../../src/people/erase.queries.ts';
import { suppress, suppressByHand } from '../../src/suppressions/suppress.ts';
import { makeOrganization } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';
import { untilLockWaits } from '../support/probe/locks.ts';

const { db } = await testDatabase();
const email = 'ada@people.test';

/** Every way to block an address. Returns true if the address was stored. */
const ways: Record<string, (orgId: string) => Promise<boolean>> = {
  'by hand': (orgId) =>
    suppressByHand({ db }, commandWriter(orgId), email).then(
      () => true,
      (error: { code?: string }) => error.code !== 'erased',
    ),
  'by a bounce': (orgId) =>
    inTransaction(db, (tx) => suppress(tx, { orgId, email }, { kind: 'bounced', detail: null })),
};

for (const [way, act] of Object.entries(ways)) {
  test(`address blocked ${way} during its erasure is not stored`, async () => {
    const orgId = await makeOrganization(db);
    let stored: Promise<boolean> | undefined;
    await db.begin(async (tx) => {
      await beginErasure(tx, orgId);
      await tx`
        insert into erasures (org_id, address_hash, scores, counts)
        values (${orgId}, address_hash(${orgId}, ${email}), 'kept', '{}')`;
      stored = act(orgId);
      await untilLockWaits(db);
    });
    assert.equal(await stored, false);
    assert.equal((await db`select from suppressions where org_id = ${orgId}`).length, 0);
  });
}
