import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { connect } from '../../src/lib/db/db.ts';
import { beginMails } from '../../src/sends/queries.ts';
import { makeOrganization } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';

/** Postgres makes five plans for the values of a call before it compares them with a plan for all values. */
const calls = 9;
const ownPlans = 5;

const { db, url } = await testDatabase();
const orgId = await makeOrganization(db);

test('mails that begin a few at a time share one plan', async (t) => {
  const sql = connect(url, { connections: 1 });
  t.after(() => sql.end());
  for (let call = 0; call < calls; call += 1) {
    await beginMails(sql, [{ id: randomUUID(), org_id: orgId }]);
  }

  const [plans] = await sql`
    select generic_plans::int as shared, custom_plans::int as own
    from pg_prepared_statements
    where statement like '%sending_at%' and statement not like '%pg_prepared_statements%'`;

  assert.deepEqual({ ...plans }, { shared: calls - ownPlans, own: ownPlans });
});
