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
import { untilLockWaits } from '../support/probe/locks.ts';

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
  await records.open(row!.org_id, () => records.add(row!));
  assert.deepEqual(await statuses([row!.id]), ['sent']);
});

test('an outcome waits for those of other open mails, until the last of them ends', async (t) => {
  const rows = await begun(3);
  const records = createRecords(db);
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const withdrawn = Promise.withResolvers<void>();
  const other = records.open(rows[0]!.org_id, () => withdrawn.promise);
  const recorded = rows.slice(0, 2).map((row) => records.open(row.org_id, () => records.add(row)));
  await db`select 1`;
  const ids = rows.map(({ id }) => id);
  assert.deepEqual(await statuses(ids), ['sending', 'sending', 'sending']);
  withdrawn.resolve();
  await other;
  await Promise.all(recorded);
  assert.deepEqual((await statuses(ids)).sort(), ['sending', 'sent', 'sent']);
});

test("an outcome does not wait until those of another organization's mails are written", async () => {
  const [many, [one]] = [await begun(2), await begun(1)];
  const records = createRecords(db);
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  const { promise: locked, resolve: lock } = Promise.withResolvers<void>();
  const holder = db.begin(async (tx) => {
    await tx`select from mails where id = ${many[0]!.id} for update`;
    lock();
    await held;
  });
  await locked;
  const theirs = many.map((row) => records.open(row.org_id, () => records.add(row)));
  await untilLockWaits(db);
  await records.open(one!.org_id, () => records.add(one!));
  assert.deepEqual(await statuses([one!.id]), ['sent']);
  assert.deepEqual(await statuses(many.map(({ id }) => id)), ['sending', 'sending']);
  release();
  await Promise.all([holder, ...theirs]);
  assert.deepEqual(await statuses(many.map(({ id }) => id)), ['sent', 'sent']);
});
