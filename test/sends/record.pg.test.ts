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
  const mails = await claimed(contacts);
  await beginMails(db, mails);
  return mails.map((mail) => toRow({ ...mail, attempt: 1 }, { status: 'sent' }));
}

async function claimed(contacts: number) {
  const orgId = await makeOrganization(db);
  const survey = { orgId, surveyId: await makeSurvey(db, orgId) };
  const submitted = Array.from({ length: contacts }, (_, n) =>
    readContact({ email: `p${n}@people.test` }),
  );
  const request = { requestId: randomUUID(), submitted, traceparent: null };
  return (await claim(db, survey, request)).mails;
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
  const release = await lockMail(many[0]!.id);
  const theirs = many.map((row) => records.open(row.org_id, () => records.add(row)));
  await untilLockWaits(db);
  await records.open(one!.org_id, () => records.add(one!));
  assert.deepEqual(await statuses([one!.id]), ['sent']);
  assert.deepEqual(await statuses(many.map(({ id }) => id)), ['sending', 'sending']);
  await release();
  await Promise.all(theirs);
  assert.deepEqual(await statuses(many.map(({ id }) => id)), ['sent', 'sent']);
});

test("an outcome in one batch with another organization's leaves it when that waits for a lock", async () => {
  const [[locked], [one]] = [await begun(1), await begun(1)];
  const records = createRecords(db);
  const release = await lockMail(locked!.id);
  const other = Promise.withResolvers<void>();
  // Both organizations have a mail more, so that nothing is written before both outcomes are there.
  const more = [locked!, one!].map(({ org_id }) => records.open(org_id, () => other.promise));
  const theirs = records.open(locked!.org_id, () => records.add(locked!));
  await records.open(one!.org_id, () => records.add(one!));
  assert.deepEqual(await statuses([one!.id]), ['sent']);
  assert.deepEqual(await statuses([locked!.id]), ['sending']);
  await release();
  await theirs;
  other.resolve();
  await Promise.all(more);
  assert.deepEqual(await statuses([locked!.id]), ['sent']);
});

test('a failure in one batch with a mail that waits for a lock gives its quota back once', async () => {
  const [[locked], [one]] = [await begun(1), await begun(1)];
  const failed = { ...one!, status: 'failed', reason: 'no such mailbox', contact_status: 'failed' };
  await db`update mail_usage set used = 5 where org_id = ${one!.org_id}`;
  const records = createRecords(db);
  const release = await lockMail(locked!.id);
  const other = Promise.withResolvers<void>();
  const more = [locked!, one!].map(({ org_id }) => records.open(org_id, () => other.promise));
  const theirs = records.open(locked!.org_id, () => records.add(locked!));
  await records.open(one!.org_id, () => records.add(failed as typeof locked & object));
  const usage = await db`select used from mail_usage where org_id = ${one!.org_id}`;
  assert.deepEqual([...usage], [{ used: 4 }]);
  await release();
  await theirs;
  other.resolve();
  await Promise.all(more);
});

test('mails do not begin together with one that waits for a lock', async () => {
  const [locked, one] = [await claimed(1), await claimed(1)];
  const release = await lockMail(locked[0]!.id);
  await assert.rejects(beginMails(db, [...locked, ...one], 50), { code: '55P03' });
  assert.equal((await beginMails(db, one, 50)).length, 1);
  await release();
  assert.equal((await beginMails(db, locked, 50)).length, 1);
});

async function lockMail(id: string): Promise<() => Promise<void>> {
  const [locked, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const holder = db.begin(async (tx) => {
    await tx`select from mails where id = ${id} for update`;
    locked.resolve();
    await held.promise;
  });
  await locked.promise;
  return async () => {
    held.resolve();
    await holder;
  };
}
