import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Sql } from '../../src/lib/db/db.ts';
import { createLog } from '../../src/lib/log/log.ts';
import type { Mailer } from '../../src/sends/mail-job.ts';
import { createMailJobs } from '../../src/sends/mail-job.ts';
import { createSendProgress, sendSurvey } from '../../src/sends/send.ts';
import { suppress } from '../../src/suppressions/suppress.ts';
import { accepted, lost } from '../support/make/mail-outcomes.ts';
import { makeOrganization, makeSurvey, writeKeyOf } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';
import { untilLockWaits } from '../support/probe/locks.ts';

// Events between the claim of a mail and its outcome.

const { db } = await testDatabase();
const log = createLog({ level: 'silent' });
const progress = await createSendProgress({ db, log });
after(() => progress.stop());

type Scene = { orgId: string; email: string };
type Happens = (sql: Sql, scene: Scene) => Promise<unknown>;
type OneMail = { claimed?: Happens; accept?: Happens; email?: string };

const unsubscribes: Happens = (sql, who) =>
  suppress(sql, { ...who, email: who.email.toLowerCase() }, { kind: 'unsubscribed', detail: null });
const bounces: Happens = (sql, who) =>
  suppress(
    sql,
    { ...who, email: who.email.toLowerCase() },
    { kind: 'bounced', detail: '5.1.1 no such user' },
  );
const answers: Happens = (sql, { orgId, email }) => sql`
  update contacts set status = 'responded', responded_at = now()
  where org_id = ${orgId} and email = ${email}`;

/** Sends a survey to one person. `claimed` runs after the claim, `accept` when the server is asked. */
async function sendOne({ claimed, accept, email = 'ann@people.test' }: OneMail) {
  const orgId = await makeOrganization(db);
  const surveyId = await makeSurvey(db, orgId);
  const scene = { orgId, email };
  let mails = 0;
  const mailer: Mailer = {
    concurrency: 1,
    async send(_, { mayLeave }) {
      if (!(await mayLeave())) return lost();
      mails += 1;
      await accept?.(db, scene);
      return accepted();
    },
  };
  const settings = { sendDeadlineSeconds: 30 };
  const mailJobs = createMailJobs({ db, log, mailer, progress, settings });
  const runJobs = async () => {
    await claimed?.(db, scene);
    const jobs = await db<{ payload: { org_id: string; mail_ids: string[] } }[]>`
      delete from test.jobs where payload ->> 'org_id' = ${orgId} returning payload`;
    for (const { payload } of jobs) await mailJobs.run(payload.org_id, payload.mail_ids);
  };
  let jobs: Promise<void> | undefined;
  const watch: typeof progress.watch = (requestId) => {
    const own = progress.watch(requestId);
    const next = (remainingMs: number) => {
      jobs ??= runJobs();
      return own.next(remainingMs);
    };
    return { ...own, next };
  };
  const key = writeKeyOf(orgId);
  const wish = { surveyId, contacts: [{ email: scene.email }], traceparent: null };
  const tools = { db, progress: { watch }, settings };
  const { results } = await sendSurvey(tools, key, wish);
  await jobs;
  const [contact] = await db<{ status: string; failure_reason: string | null; sent: boolean }[]>`
    select status, failure_reason, sent_at is not null as sent from contacts where org_id = ${orgId}`;
  const [usage] = await db<{ used: number }[]>`select used from mail_usage where org_id = ${orgId}`;
  const { status, reason_code } = results[0]!;
  return { mails, result: [status, reason_code], contact: { ...contact }, used: usage?.used };
}

const meanwhile: [what: string, happens: Happens, code: string, status: string][] = [
  ['unsubscribes', unsubscribes, 'unsubscribed', 'unsubscribed'],
  ['bounces', bounces, 'bounced', 'bounced'],
  [
    'bounces and unsubscribes',
    async (sql, who) => {
      await bounces(sql, who);
      await unsubscribes(sql, who);
    },
    'unsubscribed',
    'unsubscribed',
  ],
  ['answers', answers, 'already_sent', 'responded'],
];

for (const [what, happens, code, status] of meanwhile) {
  for (const email of ['ann@people.test', 'Ann@People.test'])
    test(`contact that ${what} after the claim is not mailed at ${email}`, async () => {
      const { mails, result, contact, used } = await sendOne({ claimed: happens, email });
      assert.equal(mails, 0);
      assert.deepEqual(result, ['duplicate', code]);
      assert.equal(contact.status, status);
      assert.equal(contact.sent, false);
      assert.equal(used, 0);
    });
}

/** Commits the event only while the outcome waits for its lock. */
const whileDeciding =
  (happens: Happens): Happens =>
  async (_, scene) => {
    const written = Promise.withResolvers<void>();
    void db.begin(async (tx) => {
      await happens(tx, scene);
      written.resolve();
      await untilLockWaits(db);
    });
    await written.promise;
  };

for (const [what, happens, status] of [
  ['unsubscribes', unsubscribes, 'unsubscribed'],
  ['answers', answers, 'responded'],
] as const) {
  test(`contact that ${what} while the outcome is saved keeps its status`, async () => {
    const { result, contact } = await sendOne({ accept: whileDeciding(happens) });
    assert.deepEqual(result, ['sent', undefined]);
    assert.deepEqual(contact, { status, failure_reason: null, sent: true });
  });
}

test('claimed contact has the status sending', async () => {
  const seen: string[] = [];
  await sendOne({
    claimed: async (sql, { orgId }) => {
      const rows = await sql<{ status: string }[]>`
        select status from contacts where org_id = ${orgId}`;
      seen.push(...rows.map(({ status }) => status));
    },
  });
  assert.deepEqual(seen, ['sending']);
});
