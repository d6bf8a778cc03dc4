import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createLog } from '../../src/lib/log/log.ts';
import type { MailOutcome } from '../../src/lib/smtp/connection.ts';
import { claim } from '../../src/sends/claim.ts';
import type { Mailer } from '../../src/sends/mail-job.ts';
import { createMailJobs } from '../../src/sends/mail-job.ts';
import { readContact } from '../../src/sends/rules.ts';
import { accepted, lost } from '../support/make/mail-outcomes.ts';
import { makeOrganization, makeSurvey } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';
import { until } from '../support/probe/until.ts';

const { db } = await testDatabase();
const log = createLog({ level: 'silent' });
const progress = { report: async () => {} };

async function claimed(contacts: number) {
  const orgId = await makeOrganization(db);
  const surveyId = await makeSurvey(db, orgId);
  const submitted = Array.from({ length: contacts }, (_, n) =>
    readContact({ email: `p${n}@${orgId}.test` }),
  );
  const request = { requestId: randomUUID(), submitted, traceparent: null };
  await claim(db, { orgId, surveyId }, request);
  const rows = await db<{ id: string }[]>`select id from mails where org_id = ${orgId}`;
  return { orgId, ids: rows.map(({ id }) => id) };
}

/** A mail server with two connections that answers on demand. */
function heldServer() {
  const asked: { orgId: string; answer: (outcome: MailOutcome) => void }[] = [];
  const mailer: Mailer = {
    concurrency: 2,
    async send({ org_id: orgId }, { mayLeave }) {
      if (!(await mayLeave())) return lost();
      return await new Promise((answer) => asked.push({ orgId, answer }));
    },
  };
  return { asked, mailer };
}

test("another organization's mail is next in turn", async () => {
  const { asked, mailer } = heldServer();
  let loaded = 0;
  const settings = {
    /** Read by a job that has loaded its mails, right before they wait for a connection. */
    get sendDeadlineSeconds() {
      loaded += 1;
      return 60;
    },
  };
  const jobs = createMailJobs({ db, log, mailer, progress, settings });
  const [many, one] = [await claimed(50), await claimed(1)];
  const ran = [jobs.run(many.orgId, many.ids)];
  await until('both connections are in use', () => asked.length === 2);
  ran.push(jobs.run(one.orgId, one.ids));
  await until('the other job waits', () => loaded === 2);
  asked[0]!.answer(accepted());
  await until('the next mail is asked for', () => asked.length === 3);
  asked[1]!.answer(accepted());
  await until('another mail is asked for', () => asked.length === 4);
  assert.ok(asked.slice(2, 4).some(({ orgId }) => orgId === one.orgId));

  for (let at = 2; at < 51; at += 1) {
    await until(`mail ${at} is asked for`, () => asked.length > at);
    asked[at]!.answer(accepted());
  }
  await Promise.all(ran);
});

test('mail behind a slow exchange of a neighbour does not begin late', async () => {
  const [slow, late] = [await claimed(1), await claimed(1)];
  const begun = Promise.withResolvers<void>();
  const mailer: Mailer = {
    concurrency: 1,
    async send({ org_id }, { mayLeave }) {
      if (!(await mayLeave())) return lost();
      begun.resolve();
      if (org_id === slow.orgId) await sleep(800);
      return accepted();
    },
  };
  const jobs = createMailJobs({ db, log, mailer, progress, settings: { sendDeadlineSeconds: 2 } });
  const slowJob = jobs.run(slow.orgId, slow.ids);
  await begun.promise;
  await Promise.all([slowJob, jobs.run(late.orgId, late.ids)]);
  const [mail] = await db`select reason_code, attempts from mails where org_id = ${late.orgId}`;
  assert.deepEqual({ ...mail }, { reason_code: 'deadline', attempts: 0 });
});

test('mail that would miss the deadline does not begin', async () => {
  const { orgId, ids } = await claimed(6);
  const left: string[] = [];
  const mailer: Mailer = {
    concurrency: 1,
    async send({ email }, { mayLeave, signal }) {
      if (!(await mayLeave())) return lost();
      left.push(email);
      const { promise, resolve } = Promise.withResolvers<MailOutcome>();
      const timer = setTimeout(() => resolve(accepted()), 3200);
      signal.addEventListener('abort', () => {
        clearTimeout(timer);
        resolve({ kind: 'unknown', reason: 'out of time' });
      });
      return await promise;
    },
  };
  const settings = { sendDeadlineSeconds: 10 };
  await createMailJobs({ db, log, mailer, progress, settings }).run(orgId, ids);

  const rows = await db<{ status: string; reason_code: string | null }[]>`
    select status, reason_code from mails where org_id = ${orgId}`;
  const count = (status: string) => rows.filter((row) => row.status === status).length;
  assert.equal(count('unknown'), 0);
  assert.equal(count('sent'), left.length);
  assert.ok(count('failed') > 0 && count('sent') > 0, JSON.stringify(rows));
  for (const row of rows.filter(({ status }) => status === 'failed')) {
    assert.equal(row.reason_code, 'deadline');
  }
});
