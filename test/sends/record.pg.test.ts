import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { claim } from '../../src/sends/claim.ts';
import { beginMails } from '../../src/sends/mail-job.queries.ts';
import { toRow } from '../../src/sends/outcome.rules.ts';
import { createRecords } from '../../src/sends/record.ts';
import { readContact } from '../../src/sends/rules.ts';
import { makeOrganization, makeSurvey } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();

async function begun(contacts: number) {
  const orgId = await makeOrganization(db);
  const survey = { orgId, surveyId: await makeSurvey(db, orgId) };
  const submitted = Array.from({ length: contacts }, (_, n) =>
    readContact({ email: `p${n}@people.test` }),
  );
  const request = { requestId: randomUUID(), submitted, traceparent: null };
  const { mails } = await claim(db, survey, request);
  await beginMails(db, mails);
  return mails.map((mail) => toRow({ ...mail, attempt: 1 }, { status: 'sent' }));
}

const statuses = async (ids: string[]) =>
  (await db<{ status: string }[]>`select status from mails where id = any (${ids})`).map(
    ({ status }) => status,
  );

test('the outcome of the only open mail is recorded at once', async (t) => {
  const [row] = await begun(1);
  const records = createRecords(db);
  t.mock.timers.enable({ apis: ['setTimeout'] }); // no batch is written because its time is over
  await records.open(() => records.add(row!));
  assert.deepEqual(await statuses([row!.id]), ['sent']);
});

test('an outcome waits for those of other open mails, until the last of them ends', async (t) => {
  const rows = await begun(3);
  const records = createRecords(db);
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const withdrawn = Promise.withResolvers<void>();
  const other = records.open(() => withdrawn.promise);
  const recorded = rows.slice(0, 2).map((row) => records.open(() => records.add(row)));
  await db`select 1`;
  const ids = rows.map(({ id }) => id);
  assert.deepEqual(await statuses(ids), ['sending', 'sending', 'sending']);
  withdrawn.resolve();
  await other;
  await Promise.all(recorded);
  assert.deepEqual((await statuses(ids)).sort(), ['sending', 'sent', 'sent']);
});
