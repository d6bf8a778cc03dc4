import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { claim } from '../../src/sends/claim.ts';
import type { Mailer } from '../../src/sends/mail-job.ts';
import { createMailJobs, recoverStrandedMails } from '../../src/sends/mail-job.ts';
import { beginMails } from '../../src/sends/queries.ts';
import { readContact } from '../../src/sends/rules.ts';
import { mailed } from '../../src/signals.ts';
import { tasks } from '../../src/tasks.ts';
import { accepted, lost } from '../support/make/mail-outcomes.ts';
import { makeOrganization, makeSurvey } from '../support/make/rows.ts';
import { taskTools } from '../support/make/task-tools.ts';
import { testDatabase } from '../support/probe/database.ts';
import { workOn } from '../support/probe/jobs.ts';
import { untilLockWaits } from '../support/probe/locks.ts';
import { keptLog } from '../support/probe/log.ts';
import { until } from '../support/probe/until.ts';

const { db, url } = await testDatabase();
const { lines, log } = keptLog();
const settings = { sendDeadlineSeconds: 60 };
const progress = { report: async () => {} };
/** Collects the mail signals of an organization. */
function signalsOf(orgId: string) {
  const signals: unknown[] = [];
  mailed.subscribe((mail) => {
    if (mail.orgId === orgId) signals.push([mail.outcome, mail.ms]);
  });
  return signals;
}

const takeUp = () => recoverStrandedMails({ db, log, settings });

/** Mails of a new organization with the given age. */
async function claimed(people: number, ago = '10 minutes') {
  const orgId = await makeOrganization(db);
  const surveyId = await makeSurvey(db, orgId);
  const submitted = Array.from({ length: people }, (_, n) =>
    readContact({ email: `p${n}-${orgId}@people.test` }),
  );
  const wish = { requestId: randomUUID(), submitted, traceparent: null };
  await claim(db, { orgId, surveyId }, wish);
  await db`update mails set claimed_at = now() - ${ago}::interval where org_id = ${orgId}`;
  const list = () => db<Row[]>`
    select id, org_id, email, status, reason, reason_code from mails
    where org_id = ${orgId} order by email`;
  return { orgId, surveyId, list, sends: [...(await list())] };
}

type Row = {
  id: string;
  org_id: string;
  email: string;
  status: string;
  reason: string | null;
  reason_code: string | null;
};

const mailJobs = (orgId: string) => db<{ id: string }[]>`
  select id from graphile_worker._private_jobs where payload ->> 'org_id' = ${orgId}`;
const queuedOf = (orgId: string) => db<{ payload: { mail_ids: string[] } }[]>`
  select payload from test.jobs
  where task = 'sends.mail' and payload ->> 'org_id' = ${orgId}
    and id in (select id from graphile_worker.jobs where attempts < max_attempts)`;

/** A job that used up its attempts some time ago. */
async function failForGood(orgId: string, ago = '10 minutes') {
  const ids = (await mailJobs(orgId)).map(({ id }) => id);
  await db`select graphile_worker.permanently_fail_jobs(${ids}::bigint[], 'too often')`;
  await db`
    update graphile_worker._private_jobs set updated_at = now() - ${ago}::interval
    where id = any (${ids}::bigint[])`;
}

const statuses = async ({ list }: { list: () => Promise<Row[]> }) =>
  (await list()).map(({ status }) => status);

test('failed job starts again and sends its mails once', async (t) => {
  const left = await claimed(60);
  await beginMails(db, left.sends.slice(0, 1));
  await failForGood(left.orgId);

  lines.length = 0;
  await takeUp();
  await takeUp();
  assert.deepEqual(lines, [['warn', 'restarted failed email jobs', { count: 1 }]]);

  await workOn(t, { url, tasks: tasks(taskTools(db)) });
  await until('all have an outcome', async () =>
    (await statuses(left)).every((status) => status === 'sent' || status === 'unknown'),
  );
  const arrived = await db<{ rcpt_to: string }[]>`
    select rcpt_to from mailbox_messages where rcpt_to like ${`%${left.orgId}@people.test`}`;
  assert.deepEqual(
    arrived.map(({ rcpt_to }) => rcpt_to).sort(),
    left.sends.slice(1).map(({ email }) => email),
  );
});

/** Mail jobs that accept every mail, and their recipients. */
function counting() {
  const sent: string[] = [];
  const mailer: Mailer = {
    concurrency: 1,
    async send({ email }, { mayLeave }) {
      if (!(await mayLeave())) return lost();
      sent.push(email);
      return accepted();
    },
  };
  return { sent, mailJobs: createMailJobs({ db, log, mailer, progress, settings }) };
}

test('mail metrics have the times since the attempt and since the claim', async (t) => {
  const sent = await claimed(1);
  const times = new Map<string, (string | number | null)[]>();
  const minutes = (ms: number | null) => (ms === null ? null : Math.floor(ms / 60_000));
  t.after(
    mailed.subscribe(({ orgId, outcome, ms, sinceMs }) => {
      times.set(orgId, [outcome, minutes(ms), minutes(sinceMs)]);
    }),
  );
  await counting().mailJobs.run(
    sent.orgId,
    sent.sends.map(({ id }) => id),
  );
  assert.deepEqual(times.get(sent.orgId), ['sent', 0, 10]);
});

test('mail begun by a crashed process becomes unknown', async () => {
  const left = await claimed(1);
  const { sent, mailJobs } = counting();
  const ids = left.sends.map(({ id }) => id);
  const signals = signalsOf(left.orgId);
  let job: Promise<void> | undefined;
  await db.begin(async (dead) => {
    await beginMails(dead, left.sends);
    job = mailJobs.run(left.orgId, ids);
    await untilLockWaits(db);
  });
  await job;

  assert.deepEqual(signals, [['unknown', null]]);
  assert.deepEqual(await statuses(left), ['unknown']);
  assert.deepEqual(sent, []);
});

test('mail begun by an earlier run becomes unknown', async () => {
  const left = await claimed(2);
  await beginMails(db, left.sends.slice(0, 1));
  const { sent, mailJobs } = counting();
  const ids = left.sends.map(({ id }) => id);
  await mailJobs.run(left.orgId, ids);
  assert.deepEqual(await statuses(left), ['unknown', 'sent']);
  assert.deepEqual(sent, [left.sends[1]?.email]);
});

test('mail begun by a crashed process during the load becomes unknown', async () => {
  const left = await claimed(1);
  const { sent, mailJobs } = counting();
  const ids = left.sends.map(({ id }) => id);
  let job: Promise<void> | undefined;
  await db.begin(async (slow) => {
    await db.begin(async (dead) => {
      await dead`
        update mails set status = 'sending', sending_at = now(), attempts = 1
        where org_id = ${left.orgId}`;
      await slow`lock table surveys in access exclusive mode`; // read after the mails
      job = mailJobs.run(left.orgId, ids);
      await untilLockWaits(db);
    });
  });
  await job;

  assert.deepEqual(await statuses(left), ['unknown']);
  assert.deepEqual(sent, []);
});

const hands: [name: string, take: (orgId: string) => Promise<unknown>][] = [
  ['in the queue', async () => {}],
  [
    'in its last attempt',
    async (orgId) => {
      await db`
        update graphile_worker._private_jobs
        set attempts = max_attempts, locked_at = now(), locked_by = 'somebody', updated_at = now() - interval '1 hour'
        where payload ->> 'org_id' = ${orgId}`;
    },
  ],
];

for (const [name, take] of hands) {
  test(`recovery does not touch mails whose job is ${name}`, async () => {
    const left = await claimed(2);
    await beginMails(db, left.sends.slice(0, 1));
    await db`update mails set sending_at = claimed_at where org_id = ${left.orgId} and sending_at is not null`;
    await take(left.orgId);
    const before = [...(await queuedOf(left.orgId))];

    await takeUp();

    assert.deepEqual(await statuses(left), ['sending', 'claimed']);
    assert.deepEqual([...(await queuedOf(left.orgId))], before);
  });
}

test('recovery does not touch mails whose request may still wait', async () => {
  const left = await claimed(1, '3 minutes');
  await failForGood(left.orgId, '3 minutes');
  await takeUp();
  assert.equal((await queuedOf(left.orgId)).length, 0);
});

const close = ({ surveyId }: { surveyId: string }) =>
  db`update surveys set status = 'completed', completed_by = 'hand' where id = ${surveyId}`;
const age = ({ orgId }: { orgId: string }) =>
  db`update mails set claimed_at = now() - interval '25 hours' where org_id = ${orgId}`;

for (const [reason, meanwhile] of [
  ['not sent: the survey was closed', close],
  ['could not be sent within a day', age],
] as const) {
  test(`mail of a failed job ends with its quota (${reason})`, async (t) => {
    const left = await claimed(2);
    await failForGood(left.orgId);
    await meanwhile(left);
    const signals = signalsOf(left.orgId);
    await takeUp();

    assert.deepEqual(signals, [
      ['failed', null],
      ['failed', null],
    ]);
    const [mail] = await left.list();
    assert.partialDeepStrictEqual(mail, { status: 'failed', reason_code: 'deadline', reason });
    const [usage] = await db`select used from mail_usage where org_id = ${left.orgId}`;
    assert.equal(usage?.['used'], 0);
    await workOn(t, { url, tasks: tasks(taskTools(db)) });
    await until('its job has ended', async () => (await mailJobs(left.orgId)).length === 0);
  });
}

test('job that always throws is restarted for a day', async (t) => {
  const left = await claimed(1);
  const mailer: Mailer = { concurrency: 1, send: () => Promise.reject(new Error('broken')) };
  const throwing = createMailJobs({ db, log, mailer, progress, settings });
  await failForGood(left.orgId);
  await takeUp();
  assert.equal((await queuedOf(left.orgId)).length, 1);
  await workOn(t, { url, tasks: tasks({ ...taskTools(db), mailJobs: throwing }) });
  await until('it has thrown', async () => {
    const [job] = await db`
      select last_error from graphile_worker._private_jobs where payload ->> 'org_id' = ${left.orgId}`;
    return job?.['last_error'] === 'broken';
  });
  assert.deepEqual(await statuses(left), ['claimed']);

  await age(left);
  await failForGood(left.orgId);
  await takeUp();
  assert.deepEqual(await statuses(left), ['failed']);
  await until('its job has ended', async () => (await mailJobs(left.orgId)).length === 0);
});

test('wait of deferred mails grows with age only if the job sent none', async () => {
  const waits: unknown[] = [];
  for (const leaving of [0, 1]) {
    const left = await claimed(2);
    await db`delete from test.jobs where payload ->> 'org_id' = ${left.orgId}`;
    await db`update mails set awaited = false, attempts = 2 where org_id = ${left.orgId}`;
    const mailer: Mailer = {
      concurrency: 1,
      async send({ email }, { mayLeave }) {
        if (!left.sends.slice(0, leaving).some((mail) => mail.email === email)) return lost();
        return (await mayLeave()) ? accepted() : lost();
      },
    };
    const ids = left.sends.map(({ id }) => id);
    await createMailJobs({ db, log, mailer, progress, settings }).run(left.orgId, ids);
    const [job] = await db`
      select jsonb_array_length(payload::jsonb -> 'mail_ids') as mails, run_at > now() + interval '2 minutes' as late
      from test.jobs where payload ->> 'org_id' = ${left.orgId}`;
    waits.push({ ...job });
  }
  assert.deepEqual(waits, [
    { mails: 2, late: true },
    { mails: 1, late: false },
  ]);
});
