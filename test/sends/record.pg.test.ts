import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { retryWhile } from '../../src/lib/db/db.ts';
import { createLog } from '../../src/lib/log/log.ts';
import { claim } from '../../src/sends/claim.ts';
import { createMailJobs, type Mailer } from '../../src/sends/mail-job.ts';
import { readContact } from '../../src/sends/rules.ts';
import { accepted, lost } from '../support/make/mail-outcomes.ts';
import { makeOrganization, makeSurvey } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';

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

test('deadlock loses neither a start nor an outcome', async () => {
  const orgId = await makeOrganization(db);
  const survey = { orgId, surveyId: await makeSurvey(db, orgId) };
  const submitted = [readContact({ email: 'ann@people.test' })];
  await claim(db, survey, { requestId: randomUUID(), submitted, traceparent: null });
  await db`create sequence changes_of_mails`;
  await db`
    create function end_in_a_deadlock() returns trigger language plpgsql as $$
    begin
      if nextval('changes_of_mails') % 2 = 1 then
        raise exception 'deadlock detected' using errcode = 'deadlock_detected';
      end if;
      return null;
    end $$`;
  await db`
    create trigger end_in_a_deadlock before update on mails
    for each statement execute function end_in_a_deadlock()`;
  let mails = 0;
  const mailer: Mailer = {
    concurrency: 2,
    async send(_, { mayLeave }) {
      if (!(await mayLeave())) return lost();
      mails += 1;
      return accepted();
    },
  };
  const jobs = createMailJobs({
    db,
    log: createLog({ level: 'silent' }),
    mailer,
    progress: { report: async () => {} },
    settings: { sendDeadlineSeconds: 60 },
  });
  const [mail] = await db<{ id: string }[]>`select id from mails where org_id = ${orgId}`;
  await jobs.run(orgId, [mail!.id]);
  const [ended] = await db`select status from mails where id = ${mail!.id}`;
  assert.deepEqual([mails, ended?.['status']], [1, 'sent']);
});
