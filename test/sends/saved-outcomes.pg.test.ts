import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import {
  cancelClaims,
  cancelStranded,
  giveUpBegun,
  giveUpOpenMails,
  lockMonths,
  saveOutcomes,
} from '../../src/sends/queries.ts';
import { makeContact, makeOrganization, makeSurvey } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';

/** What an outcome writes of each mail: said by hand for every state that a mail may be in, in one batch of all. */
const { db } = await testDatabase();
const states = ['claimed', 'sending', 'sent', 'failed', 'unknown'] as const;
const outcomes = ['sent', 'failed', 'unknown', 'claimed'] as const;
const [month, before] = ['2026-05-01', '2026-04-01'];
const attempts = 2;

/** Which outcome may still be written to a mail in which state, of the attempt that it is in. */
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

/** A mail of each case; in which month depends on its state. */
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

test('an outcome is written to the mail of its organization that is still in the attempt, with all that follows', async () => {
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

test('of failed mails the months are locked that they belong to, and no others', async () => {
  const [orgId, other] = [await makeOrganization(db), await makeOrganization(db)];
  const survey_id = await makeSurvey(db, orgId);
  const contact_id = await makeContact(db, { org_id: orgId, survey_id });
  const id = randomUUID();
  const mail = { id, org_id: orgId, survey_id, contact_id, email: 'a@people.test', month };
  await db`insert into mails ${db({ ...mail, request_id: randomUUID() })}`;
  const usage = [orgId, other].flatMap((org_id) =>
    [before, month].map((each) => ({ org_id, month: each, used: 1 })),
  );
  await db`insert into mail_usage ${db(usage)}`;
  await db.begin(async (tx) => {
    await lockMonths(tx, [id]);
    const free = await db`
      select org_id, month::text, used from mail_usage
      where org_id in (${orgId}, ${other}) for no key update skip locked`;
    const key = (row: object) => JSON.stringify(Object.entries(row).toSorted());
    const rest = usage.filter((row) => row.org_id !== orgId || row.month !== month);
    assert.deepEqual([...free].map(key).toSorted(), rest.map(key).toSorted());
  });
});

/** A mail of each state in each of two requests, first mails and reminders, each of a contact of its own. */
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
  reminders: readonly number[];
  /** The states that it ends, and whether of one request alone. */
  ends: readonly (typeof states)[number][];
  ofRequest: boolean;
  to: { status: string; reason_code: string; blocks_resend: boolean };
  givesBack: boolean;
};

const failed = { status: 'failed', reason_code: 'deadline', blocks_resend: false };
const unknown = { status: 'unknown', reason_code: 'unknown_outcome', blocks_resend: true };
const ids = ({ made }: OpenMails) => made.map(({ id }) => id);
const endings: Record<string, Ending> = {
  'a request whose time is over': {
    end: ({ requestId }, orgId) => cancelClaims(db, orgId, requestId, 'why'),
    reminders: [0],
    ends: ['claimed'],
    ofRequest: true,
    to: failed,
    givesBack: true,
  },
  'a job that comes too late': {
    end: (of, org_id) =>
      cancelStranded(
        db,
        ids(of).map((id) => ({ id, org_id, reason: 'why' })),
      ),
    reminders: [0, 1],
    ends: ['claimed'],
    ofRequest: false,
    to: failed,
    givesBack: true,
  },
  'the death of its process': {
    end: (of, orgId) => giveUpBegun(db, orgId, ids(of), 'why'),
    reminders: [0, 1],
    ends: ['sending'],
    ofRequest: false,
    to: unknown,
    givesBack: false,
  },
  'a restore': {
    end: async (_, orgId) => {
      const isOwn = await db`select from mails where org_id = ${orgId}`;
      if (isOwn.length > 0) await giveUpOpenMails(db, 'why');
      return undefined;
    },
    reminders: [0, 1],
    ends: ['claimed', 'sending'],
    ofRequest: false,
    to: unknown,
    givesBack: false,
  },
};

for (const [cause, { end, reminders, ends, ofRequest, to, givesBack }] of Object.entries(endings)) {
  test(`the mails that ${cause} ends are open ones of its organization, and all else follows`, async () => {
    const of = await makeOpenMails(reminders);
    const isEnded = ({ status, request_id }: OpenMails['made'][number]) =>
      ends.includes(status) && (!ofRequest || request_id === of.requestId);
    const sorted = (rows: readonly { id: string }[]) => rows.map(({ id }) => id).toSorted();

    const noted = await end(of, await makeOrganization(db));
    assert.equal(noted?.length ?? 0, 0);
    assert.deepEqual(
      await shown(of.orgId),
      expected(of, () => false, to),
    );
    const ended = await end(of, of.orgId);
    if (ended) assert.deepEqual(sorted(ended), sorted(of.made.filter(isEnded)));
    assert.deepEqual(await shown(of.orgId), expected(of, isEnded, to));
    const [usage] = await db`select used from mail_usage where org_id = ${of.orgId}`;
    assert.equal(usage?.['used'], 100 - (givesBack ? of.made.filter(isEnded).length : 0));
  });
}

/** Of each mail and its contact what an ending may change. */
async function shown(orgId: string) {
  const rows = await db`
    select m.id, m.status, m.reason, m.reason_code, m.blocks_resend, m.finished_at is not null as has_finished,
           c.status as contact, c.failure_reason, c.sent_at is not null as was_sent
    from mails m
    join contacts c on c.id = m.contact_id
    where m.org_id = ${orgId}
    order by m.id`;
  return rows.map((row) => ({ ...row }));
}

function expected(
  { made }: OpenMails,
  isEnded: (mail: OpenMails['made'][number]) => boolean,
  to: Ending['to'],
) {
  const rows = made.map((mail) => {
    const ended = isEnded(mail);
    const isMarked = ended && mail.reminder === 0;
    const before = { reason_code: null, blocks_resend: mail.status !== 'failed' };
    return {
      id: mail.id,
      status: mail.status,
      reason: ended ? 'why' : null,
      has_finished: ended,
      ...(ended ? to : before),
      contact: isMarked ? 'failed' : 'sending',
      failure_reason: isMarked ? 'why' : null,
      was_sent: false,
    };
  });
  return rows.toSorted((a, b) => (a.id < b.id ? -1 : 1));
}
