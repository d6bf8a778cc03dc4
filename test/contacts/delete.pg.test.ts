import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { makeClient, makeContact, makeResponse, makeSurvey } from '../support/make/rows.ts';
import { testApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';
import { untilLockWaits } from '../support/probe/locks.ts';

const { db } = await testDatabase();
const app = testApp(db);

async function client() {
  const { id, write } = await makeClient(db);
  const survey_id = await makeSurvey(db, id);
  const of = { org_id: id, survey_id };
  const remove = async (contact: string) => {
    const answer = await app.request(`/api/v1/contacts/${contact}`, {
      method: 'DELETE',
      headers: write,
    });
    return answer.status;
  };
  const statusOfSurvey = async () => {
    const [row] = await db<
      { status: string }[]
    >`select status from surveys where id = ${survey_id}`;
    return row?.status;
  };
  return { id, of, remove, statusOfSurvey };
}

test('deleting a contact deletes its answer', async () => {
  const org = await client();
  const contact_id = await makeContact(db, org.of);
  await makeResponse(db, org.of, { contact_id });
  assert.equal(await org.remove(contact_id), 204);
  assert.equal((await db`select from responses where org_id = ${org.id}`).length, 0);
  assert.equal(await org.remove(contact_id), 404);
});

test('survey completes when its last open contact is deleted', async () => {
  const org = await client();
  await makeContact(db, org.of, { status: 'responded', responded_at: new Date() });
  const silent = await makeContact(db, org.of);
  assert.equal(await org.statusOfSurvey(), 'active');
  assert.equal(await org.remove(silent), 204);
  assert.equal(await org.statusOfSurvey(), 'completed');
});

test('contact with a mail in flight cannot be deleted', async () => {
  const org = await client();
  const contact_id = await makeContact(db, org.of);
  const mail = {
    ...org.of,
    contact_id,
    request_id: randomUUID(),
    email: 'a@b.test',
    month: '2026-01-01',
  };
  await db`insert into mails ${db({ ...mail, status: 'sending' })}`;
  assert.equal(await org.remove(await makeContact(db, org.of)), 204, 'that of another one');
  assert.equal(await org.remove(contact_id), 409);
  await db`update mails set status = 'sent' where contact_id = ${contact_id}`;
  assert.equal(await org.remove(contact_id), 204);
});

test('deleting a deleted contact returns 404 and is not audited', async () => {
  const org = await client();
  const contact = await makeContact(db, org.of);
  let removing: Promise<number> | undefined;
  await db.begin(async (tx) => {
    await tx`delete from contacts where id = ${contact}`;
    removing = org.remove(contact);
    await untilLockWaits(db);
  });
  assert.equal(await removing, 404);
  const acts = await db`
    select from audit_events where org_id = ${org.id} and act = 'contact.deleted'`;
  assert.equal(acts.length, 0);
});

test('contact of another organization is not found', async () => {
  const [mine, theirs] = [await client(), await client()];
  assert.equal(await mine.remove(await makeContact(db, theirs.of)), 404);
});
