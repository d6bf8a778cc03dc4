import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import type { Sql } from '../../src/lib/db/db.ts';
import { claim } from '../../src/sends/claim.ts';
import {
  createAttempts,
  createRecorder,
  type Mailer,
  retryWhile,
} from '../../src/sends/mail-job.ts';
import { beginMails, type ClaimedMail, listOpenMails } from '../../src/sends/queries.ts';
import { type OutcomeRow, readContact, toRow } from '../../src/sends/rules.ts';
import { accepted, lost } from '../support/make/mail-outcomes.ts';
import { makeOrganization, makeSurvey } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';

// Batches of starts and outcomes span several organizations.

const { db } = await testDatabase();

test('temporary database failure is retried for a minute', async () => {
  let waitedMs = 0;
  const wait = async (ms: number) => {
    waitedMs += ms;
  };
  const fail = (error: Error) =>
    retryWhile(
      (it) => it === away,
      () => Promise.reject(error),
      wait,
    );
  const [away, other] = [new Error('away'), new Error('not for the time being')];
  await assert.rejects(fail(away), away);
  assert.equal(waitedMs, 60_000);
  await assert.rejects(fail(other), other);
  assert.equal(waitedMs, 60_000);
});

/** A claimed mail in a new organization. */
async function claimed() {
  const orgId = await makeOrganization(db);
  const survey = { orgId, surveyId: await makeSurvey(db, orgId) };
  const submitted = [readContact({ email: 'ann@people.test' })];
  await claim(db, survey, { requestId: randomUUID(), submitted, traceparent: null });
  const ids = await db<{ id: string }[]>`select id from mails where org_id = ${orgId}`;
  const [mail] = await listOpenMails(
    db,
    orgId,
    ids.map(({ id }) => id),
  );
  return mail as ClaimedMail;
}

async function begun(): Promise<OutcomeRow> {
  const mail = await claimed();
  await beginMails(db, [mail]);
  return toRow({ ...mail, attempt: 1 }, { status: 'sent', response: '250 ok' });
}

const failed = (row: OutcomeRow): OutcomeRow => ({
  ...row,
  status: 'failed',
  reason: 'no such mailbox',
  contact_status: 'failed',
});

const statuses = async (...rows: { id: string }[]) => {
  const ids = rows.map(({ id }) => id);
  const found = await db<{ status: string }[]>`
    select status from mails where id = any (${ids}) order by array_position(${ids}::uuid[], id)`;
  return found.map(({ status }) => status);
};

test('outcome leaves a batch that waits for a lock', async () => {
  const [locked, one] = [await begun(), await begun()];
  const records = createRecorder(db);
  const release = await lockMail(locked.id);
  const theirs = records.add(locked);
  await records.add(one);
  assert.deepEqual(await statuses(locked, one), ['sending', 'sent']);
  await release();
  await theirs;
  assert.deepEqual(await statuses(locked), ['sent']);
});

test('retried batch returns quota once', async () => {
  const [locked, one] = [await begun(), await begun()];
  await db`update mail_usage set used = 5 where org_id = ${one.org_id}`;
  const records = createRecorder(db);
  const release = await lockMail(locked.id);
  const theirs = records.add(locked);
  await records.add(failed(one));
  const [usage] = await db`select used from mail_usage where org_id = ${one.org_id}`;
  assert.equal(usage?.['used'], 4);
  await release();
  await theirs;
});

test('failure in a locked month leaves its shared batch', async () => {
  const [locked, one] = [await begun(), await begun()];
  const records = createRecorder(db);
  const release = await hold(
    (tx) => tx`select from mail_usage where org_id = ${locked.org_id} for update`,
  );
  const theirs = records.add(failed(locked));
  await records.add(one);
  assert.deepEqual(await statuses(locked, one), ['sending', 'sent']);
  // Months are locked before mails, so the mail is still free.
  await db`select from mails where id = ${locked.id} for update nowait`;
  await release();
  await theirs;
  assert.deepEqual(await statuses(locked), ['failed']);
});

test('beginMails fails on a locked mail and works without it', async () => {
  const [locked, one] = [await claimed(), await claimed()];
  const release = await lockMail(locked.id);
  await assert.rejects(beginMails(db, [locked, one], 50), { code: '55P03' });
  assert.equal((await beginMails(db, [one], 50)).length, 1);
  await release();
  assert.equal((await beginMails(db, [locked], 50)).length, 1);
});

const lockMail = (id: string) => hold((tx) => tx`select from mails where id = ${id} for update`);

async function hold(lock: (tx: Sql) => Promise<unknown>): Promise<() => Promise<void>> {
  const [locked, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const holder = db.begin(async (tx) => {
    await lock(tx);
    locked.resolve();
    await held.promise;
  });
  await locked.promise;
  return async () => {
    held.resolve();
    await holder;
  };
}

test('deadlock loses neither a start nor an outcome', async () => {
  await db`create sequence changes_of_mails`;
  await db`
    create function end_in_a_deadlock() returns trigger language plpgsql as $$
    begin
      if nextval('changes_of_mails') <= 2 then
        raise exception 'deadlock detected' using errcode = 'deadlock_detected';
      end if;
      return null;
    end $$`;
  await db`
    create trigger end_in_a_deadlock before update on mails
    for each statement execute function end_in_a_deadlock()`;
  const mail = await claimed();
  const mailer: Mailer = {
    concurrency: 2,
    send: async (_mail, { mayLeave }) => ((await mayLeave()) ? accepted() : lost()),
  };
  const time = { endsAt: Infinity, maxExchangeMs: 1000, signal: AbortSignal.timeout(60_000) };
  const attempts = createAttempts({ db, mailer });
  const { outcome } = await attempts.tryInSpan(mail, { attempt: 1, time, job: null });
  assert.equal(outcome.kind, 'accepted');

  await db`select setval('changes_of_mails', 1, false)`;
  await createRecorder(db).add(
    toRow({ ...mail, attempt: 1 }, { status: 'sent', response: '250 ok' }),
  );
  assert.deepEqual(await statuses(mail), ['sent']);
  await db`drop trigger end_in_a_deadlock on mails`;
});
