import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import type { Sql } from '../../src/lib/db/db.ts';
import { claim } from '../../src/sends/claim.ts';
import { createAttempts, createRecords, retryWhile } from '../../src/sends/mail-job.ts';
import type { Mailer } from '../../src/sends/mailer.ts';
import {
  beginMails,
  type ClaimedMail,
  type OpenMail,
  saveOutcomes,
} from '../../src/sends/queries.ts';
import { type OutcomeRow, readContact, toRow } from '../../src/sends/rules.ts';
import { accepted, lost } from '../support/make/mail-outcomes.ts';
import { makeOrganization, makeSurvey } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';
import { untilLockWaits } from '../support/probe/locks.ts';
import { until } from '../support/probe/until.ts';

const { db } = await testDatabase();

test('a statement that fails for the time being is tried again for a minute', async () => {
  let waitedMs = 0;
  const away = new Error('away');
  const wait = async (ms: number) => {
    waitedMs += ms;
  };
  const passes = (error: unknown) => error === away;
  await assert.rejects(
    retryWhile(passes, () => Promise.reject(away), wait),
    away,
  );
  assert.equal(waitedMs, 60_000);
  const other = new Error('not for the time being');
  await assert.rejects(
    retryWhile(passes, () => Promise.reject(other), wait),
    other,
  );
  assert.equal(waitedMs, 60_000);
});

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

const acceptingMailer: Mailer = {
  concurrency: 2,
  send: async (_mail, { mayLeave }) => ((await mayLeave()) ? accepted() : lost()),
};

const statuses = async (ids: string[]) =>
  (
    await db<{ status: string }[]>`select status from mails where id = any (${ids})
    order by array_position(${ids}::uuid[], id)`
  ).map(({ status }) => status);

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

test('a batch of several organizations waits 200 ms for a lock, and one of a single organization as long as it takes', async () => {
  const seen = await noteLockTimeouts();
  const mails = [...(await claimed(1)), ...(await claimed(1))];
  const attempts = createAttempts({ db, mailer: acceptingMailer });
  const time = { endsAt: Infinity, longestMs: 1000, signal: AbortSignal.timeout(60_000) };
  const words = {} as ClaimedMail;
  const begin = (mail: OpenMail) =>
    attempts.tryInSpan({ ...words, ...mail }, { attempt: 1, time, job: null });
  await Promise.all(mails.map(begin));
  assert.deepEqual(await seen(), ['200ms', '200ms']);

  const records = createRecords(db);
  const [locked, one] = mails.map((mail) => toRow({ ...mail, attempt: 1 }, { status: 'sent' }));
  const record = (row: OutcomeRow) => records.open(row.org_id, () => records.add(row));
  const other = Promise.withResolvers<void>();
  const more = [locked!, one!].map(({ org_id }) => records.open(org_id, () => other.promise));
  const release = await lockMail(locked!.id);
  const theirs = record(locked!);
  await record(one!);
  await release();
  await theirs;
  assert.deepEqual(await seen(), ['0', '0']);

  const failed = (await begun(1)).concat(await begun(1));
  await seen();
  const failing = failed.map(({ org_id }) => records.open(org_id, () => other.promise));
  const refused = {
    status: 'failed',
    reason: 'no such mailbox',
    contact_status: 'failed',
  } as const;
  await Promise.all(failed.map((row) => record({ ...row, ...refused } as OutcomeRow)));
  assert.deepEqual(await seen(), ['200ms', '200ms']);
  other.resolve();
  await Promise.all([...more, ...failing]);
});

test('a failure of a month that is locked leaves the batch that it shares', async () => {
  const [[locked], [one]] = [await begun(1), await begun(1)];
  const failed = { ...locked!, status: 'failed', reason: 'no such mailbox' } as typeof locked &
    object;
  const records = createRecords(db);
  const other = Promise.withResolvers<void>();
  const more = [locked!, one!].map(({ org_id }) => records.open(org_id, () => other.promise));
  const release = await lockMonth(locked!.org_id);
  const theirs = records.open(locked!.org_id, () => records.add(failed));
  await records.open(one!.org_id, () => records.add(one!));
  assert.deepEqual(await statuses([locked!.id, one!.id]), ['sending', 'sent']);
  await until('the failure waits by itself', async () => {
    const waiting = await db`
      select from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and query like '%mail_usage%'`;
    return waiting.length > 0;
  });
  // Months are locked before mails, in one order for all: so the mail is still free.
  await db`select from mails where id = ${locked!.id} for update nowait`;
  await release();
  await theirs;
  other.resolve();
  await Promise.all(more);
  assert.deepEqual(await statuses([locked!.id]), ['failed']);
});

/** Notes how long each statement that changes a mail waits for a lock, as its transaction has it. */
async function noteLockTimeouts() {
  await db`create table lock_timeouts (setting text)`;
  await db`
    create function note_lock_timeout() returns trigger language plpgsql as $$
    begin
      insert into lock_timeouts values (current_setting('lock_timeout'));
      return new;
    end $$`;
  await db`
    create trigger note_lock_timeout before update on mails
    for each row execute function note_lock_timeout()`;
  return async () => {
    const rows = await db<{ setting: string }[]>`delete from lock_timeouts returning setting`;
    return rows.map(({ setting }) => setting);
  };
}

const lockMail = (id: string) => hold((tx) => tx`select from mails where id = ${id} for update`);
const lockMonth = (orgId: string) =>
  hold((tx) => tx`select from mail_usage where org_id = ${orgId} for update`);

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

test('outcomes of a whole batch leave contacts in their pages, so that they touch no index', async () => {
  const rows = await begun(300);
  const before = await pagesOfContacts(rows[0]!.org_id);
  for (let at = 0; at < rows.length; at += 100) await saveOutcomes(db, rows.slice(at, at + 100));
  const after = await pagesOfContacts(rows[0]!.org_id);
  const moved = [...after].filter(([id, page]) => before.get(id) !== page);
  assert.ok(moved.length <= 30, `${moved.length} of ${after.size} contacts moved`);
});

async function pagesOfContacts(orgId: string) {
  const contacts = await db<{ id: string; page: number }[]>`
    select id, (ctid::text::point)[0]::int as page from contacts where org_id = ${orgId}`;
  return new Map(contacts.map(({ id, page }) => [id, page]));
}

test('a deadlock with others, in a batch and then alone, costs neither the beginning of a mail nor its outcome', async () => {
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
  const [mail] = await claimed(1);
  const attempts = createAttempts({ db, mailer: acceptingMailer });
  const time = { endsAt: Infinity, longestMs: 1000, signal: AbortSignal.timeout(60_000) };
  const whole = { ...({} as ClaimedMail), ...mail! };
  const { outcome } = await attempts.tryInSpan(whole, { attempt: 1, time, job: null });
  assert.equal(outcome.kind, 'accepted');

  await db`select setval('changes_of_mails', 1, false)`;
  const row = toRow({ ...whole, attempt: 1 }, { status: 'sent' });
  const records = createRecords(db);
  await records.open(row.org_id, () => records.add(row));
  assert.deepEqual(await statuses([row.id]), ['sent']);
  const [tries] = await db`select last_value::int as n from changes_of_mails`;
  assert.equal(tries?.['n'], 3);
  await db`drop trigger end_in_a_deadlock on mails`;
});
