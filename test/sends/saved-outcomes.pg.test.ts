import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import {
  cancelClaims,
  markBegunUnknown,
  markUnknownAfterRestore,
  saveOutcomes,
} from '../../src/sends/queries.ts';
import { makeContact, makeOrganization, makeSurvey } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';

/** Expected result of an outcome for every state of a mail, written by hand. */
const { db } = await testDatabase();
const states = ['claimed', 'sending', 'sent', 'failed', 'unknown'] as const;
const outcomes = ['sent', 'failed', 'unknown', 'claimed'] as const;
const [month, before] = ['2026-05-01', '2026-04-01'];
const attempts = 2;

/** Outcomes that a mail in each state still accepts. */
const mayFollow: Record<(typeof states)[number], readonly string[]> = {
  claimed: ['failed'],
  sending: ['sent', 'failed', 'unknown', 'claimed'],
  sent: [],
  failed: [],
  unknown: ['sent', 'failed', 'unknown'],
};

const cases = states.flatMap((state) =>
  outcomes.flatMap((outcome) =>
    [attempts, attempts - 1, attempts + 1].flatMap((attempt) =>
      [true, false].map((isOwn) => {
        const isWritten = mayFollow[state].includes(outcome) && attempt === attempts && isOwn;
        return { state, outcome, attempt, isOwn, isWritten, id: randomUUID() };
      }),
    ),
  ),
);

const monthOf = (state: (typeof states)[number]) => (states.indexOf(state) % 2 ? month : before);

/** A mail for each case, in a month that depends on its state. */
async function makeMails() {
  const org_id = await makeOrganization(db);
  const survey_id = await makeSurvey(db, org_id);
  for (const [at, { id, state }] of cases.entries()) {
    const email = `Mail${at}@People.test`;
    const contact_id = await makeContact(db, { org_id, survey_id }, { email, status: 'sending' });
    const mail = { id, org_id, survey_id, contact_id, email, status: state, attempts };
    const rest = { request_id: randomUUID(), month: monthOf(state) };
    await db`insert into mails ${db({ ...mail, ...rest, blocks_resend: state !== 'failed' })}`;
  }
  const used = { used: 100 };
  await db`insert into mail_usage ${db([
    { org_id, month, ...used },
    { org_id, month: before, ...used },
  ])}`;
  return org_id;
}

test('outcome is saved only for the current attempt', async () => {
  const [orgId, other] = [await makeMails(), await makeOrganization(db)];
  const contactStatus = { sent: 'sent', failed: 'bounced', unknown: 'failed', claimed: 'sending' };
  await saveOutcomes(
    db,
    cases.map(({ id, outcome, attempt, isOwn }, at) => ({
      id,
      org_id: isOwn ? orgId : other,
      attempt,
      status: outcome,
      reason: `reason ${at}`,
      reason_code: `code ${at}`,
      contact_status: contactStatus[outcome] as 'sent',
      failure_reason: outcome === 'sent' ? null : `failure ${at}`,
    })),
  );
  const found = await db`
    select m.id, m.status, m.reason, m.reason_code, m.finished_at is not null as has_finished,
           c.status as contact, c.failure_reason, c.sent_at is not null as was_sent, s.detail
    from mails m
    join contacts c on c.id = m.contact_id
    left join suppressions s on s.org_id = m.org_id and s.email = m.email_key and s.kind = 'bounced'
    where m.org_id = ${orgId}`;
  const wanted = cases.map(({ id, state, outcome, isWritten }, at) => {
    const isMarked = isWritten && outcome !== 'claimed';
    return {
      id,
      status: isWritten ? outcome : state,
      has_finished: isMarked,
      reason: isWritten ? `reason ${at}` : null,
      reason_code: isWritten ? `code ${at}` : null,
      contact: isMarked ? contactStatus[outcome] : 'sending',
      failure_reason: isMarked && outcome !== 'sent' ? `failure ${at}` : null,
      was_sent: isMarked && outcome === 'sent',
      detail: isMarked && outcome === 'failed' ? `reason ${at}` : null,
    };
  });
  const byId = (a: { id?: string }, b: { id?: string }) => (a.id! < b.id! ? -1 : 1);
  assert.deepEqual([...found].toSorted(byId), wanted.toSorted(byId));

  const failedIn = (each: string) =>
    cases.filter(
      ({ state, outcome, isWritten }) =>
        isWritten && outcome === 'failed' && monthOf(state) === each,
    ).length;
  const usage = await db`
    select month::text, used from mail_usage where org_id = ${orgId} order by month`;
  assert.deepEqual(
    [...usage].map((row) => ({ ...row })),
    [
      { month: before, used: 100 - failedIn(before) },
      { month, used: 100 - failedIn(month) },
    ],
  );
});

/** First mails and reminders in each state, in two requests. */
async function makeOpenMails(reminders: readonly number[]) {
  const org_id = await makeOrganization(db);
  const survey_id = await makeSurvey(db, org_id);
  const requests = [randomUUID(), randomUUID()] as const;
  const made = requests.flatMap((request_id) =>
    reminders.flatMap((reminder) =>
      states.map((status) => ({ id: randomUUID(), request_id, reminder, status })),
    ),
  );
  for (const [at, each] of made.entries()) {
    const email = `open${at}@people.test`;
    const contact_id = await makeContact(db, { org_id, survey_id }, { email, status: 'sending' });
    const reminds_of = each.reminder > 0 ? made[0]!.id : null;
    const rest = { org_id, survey_id, contact_id, email, month, attempts, reminds_of };
    await db`insert into mails ${db({ ...each, ...rest, blocks_resend: each.status !== 'failed' })}`;
  }
  await db`insert into mail_usage ${db({ org_id, month, used: 100 })}`;
  return { orgId: org_id, requestId: requests[0], made };
}

type OpenMails = Awaited<ReturnType<typeof makeOpenMails>>;

type Ending = {
  end: (of: OpenMails, orgId: string) => Promise<readonly { id: string }[] | undefined>;
  /** States that it ends, and if it concerns one request only. */
  ends: readonly (typeof states)[number][];
  ofRequest?: true;
  to: 'failed' | 'unknown';
};

const ids = ({ made }: OpenMails) => made.map(({ id }) => id);
const endings: Record<string, Ending> = {
  'a request whose time is over': {
    end: ({ requestId }, orgId) => cancelClaims(db, orgId, requestId, 'why'),
    ends: ['claimed'],
    ofRequest: true,
    to: 'failed',
  },
  'the death of its process': {
    end: (of, orgId) => markBegunUnknown(db, orgId, ids(of), 'why'),
    ends: ['sending'],
    to: 'unknown',
  },
  'a restore': {
    end: async (_, orgId) => {
      const isOwn = await db`select from mails where org_id = ${orgId}`;
      if (isOwn.length > 0) await markUnknownAfterRestore(db);
      return undefined;
    },
    ends: ['claimed', 'sending'],
    to: 'unknown',
  },
};

for (const [cause, { end, ends, ofRequest, to }] of Object.entries(endings)) {
  test(`${cause} ends open mails of its organization as ${to}`, async () => {
    const of = await makeOpenMails([0, 1]);
    const isEnded = ({ status, request_id }: OpenMails['made'][number]) =>
      ends.includes(status) && (!ofRequest || request_id === of.requestId);
    const ended = of.made.filter(isEnded);
    const before = await shown(of.orgId);
    assert.equal((await end(of, await makeOrganization(db)))?.length ?? 0, 0);
    assert.deepEqual(await shown(of.orgId), before);

    const noted = await end(of, of.orgId);
    if (noted)
      assert.deepEqual(noted.map(({ id }) => id).toSorted(), ended.map(({ id }) => id).toSorted());
    for (const mail of await shown(of.orgId)) {
      const made = of.made.find(({ id }) => id === mail.id)!;
      const isMarked = isEnded(made) && made.reminder === 0;
      assert.partialDeepStrictEqual(mail, {
        status: isEnded(made) ? to : made.status,
        has_finished: isEnded(made),
        blocks_resend: (isEnded(made) ? to : made.status) !== 'failed',
        contact: isMarked ? 'failed' : 'sending',
        failure_reason: isMarked ? mail.reason : null,
      });
    }
    const [usage] = await db`select used from mail_usage where org_id = ${of.orgId}`;
    assert.equal(usage?.['used'], 100 - (to === 'failed' ? ended.length : 0));
  });
}

/** Columns of mails and contacts that an ending may change. */
async function shown(orgId: string) {
  const rows = await db`
    select m.id, m.status, m.reason, m.blocks_resend, m.finished_at is not null as has_finished,
           c.status as contact, c.failure_reason
    from mails m
    join contacts c on c.id = m.contact_id
    where m.org_id = ${orgId}
    order by m.id`;
  return rows.map((row) => ({ ...row })) as { id: string; reason: string | null }[];
}
