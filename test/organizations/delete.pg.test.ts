import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commandActor } from '../../src/audit/acts.ts';
import { deleteOrganization } from '../../src/organizations/delete.ts';
import { makeContact, makeOrganization, makeResponse, makeSurvey } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';
import { untilLockWaits } from '../support/probe/locks.ts';

const { db } = await testDatabase();

test('the receipt counts all rows when a deletion was interrupted', async () => {
  const org_id = await makeOrganization(db, { name: 'Acme' });
  const survey_id = await makeSurvey(db, org_id);
  for (let times = 0; times < 3; times++) {
    await makeContact(db, { org_id, survey_id });
    await makeResponse(db, { org_id, survey_id });
  }
  const request = { id: org_id, confirm: 'Acme' };

  const interrupted = await db.begin(async (tx) => {
    await tx`select from organizations where id = ${org_id} for key share`;
    const deletion = deleteOrganization(db, commandActor(), request).then(
      () => 'done',
      () => 'interrupted',
    );
    await untilLockWaits(db);
    await db`
      select pg_cancel_backend(pid) from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`;
    return await deletion;
  });
  assert.equal(interrupted, 'interrupted');
  const left = await db`select from responses where org_id = ${org_id}`;
  assert.equal(left.length, 0);
  await makeResponse(db, { org_id, survey_id });

  const { contacts, responses, surveys } = await deleteOrganization(db, commandActor(), request);
  assert.deepEqual({ contacts, responses, surveys }, { contacts: 3, responses: 4, surveys: 1 });
});
