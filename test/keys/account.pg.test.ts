import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeClient, makeContact, makeResponse, makeSurvey } from '../support/make/rows.ts';
import { testApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';
import { reader } from '../support/probe/read.ts';

const { db } = await testDatabase();
const app = testApp(db);

test('GET /me returns the key, its organization and its limits', async () => {
  const { id, read } = await makeClient(db, { name: 'Acme', monthly_send_limit: 100 });
  const of = { org_id: id, survey_id: await makeSurvey(db, id) };
  await makeContact(db, of);
  await makeResponse(db, of);
  await makeResponse(db, of, { held_reason: 'hidden_link' });
  await db`
    insert into mail_usage (org_id, month, used)
    values (${id}, date_trunc('month', now() at time zone 'UTC')::date, 30), (${id}, '2020-01-01', 9)`;
  const { json } = reader(app, read);

  const { data: me } = await json<{ data: Record<string, Record<string, unknown>> }>('/api/v1/me');
  assert.deepEqual(me['organization'], { id, name: 'Acme' });
  const { id: keyId, ...key } = me['key']!;
  assert.deepEqual(key, { name: 'read', permission: 'read', expires_at: null });
  assert.equal(
    (await db`select from api_keys where id = ${keyId as string} and org_id = ${id}`).length,
    1,
  );
  assert.deepEqual(
    [me['limits']!['mails_per_month'], me['usage']],
    [100, { mails_this_month: 30 }],
  );

  const { data: usage } = await json<{ data: Record<string, unknown> }>('/api/v1/usage');
  const month = new Date().toISOString().slice(0, 7);
  assert.deepEqual(usage, {
    month,
    mails_sent: 30,
    mails_limit: 100,
    mails_remaining: 70,
    responses: 1,
    contacts: 1,
  });
});
