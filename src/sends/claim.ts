import { listByAddress, saveContacts } from '../contacts/many.queries.ts';
import type { CheckedContact } from '../contacts/rules.ts';
import { Refusal } from '../errors.ts';
import type { Db, Sql } from '../lib/db/db.ts';
import { inTransaction } from '../lib/db/transaction.ts';
import { enqueue, type NewJob } from '../lib/queue/outbox.ts';
import { addUsage, lockUsage, refuseOverLimit } from '../organizations/usage.queries.ts';
import { lockForContacts } from '../surveys/lifecycle.ts';
import { reopenSurvey } from '../surveys/queries.ts';
import { insertClaims, insertWithheld, loadFacts } from './queries.ts';
import { type Judgement, judgeAll, type Submitted } from './rules.ts';

const mailsPerJob = 50;
const withheldByRule = new Set(['unsubscribed', 'bounced', 'frequency']);

export type Where = { orgId: string; surveyId: string };

export type Wish = {
  requestId: string;
  submitted: readonly Submitted[];
  traceparent: string | null;
};

export type Claimed = {
  judgements: Judgement[];
  contacts: { id: string; email: string; key: string; token: string }[];
  /** Addresses that this request mails; the others that it wanted to were claimed by another first. */
  claimed: Set<string>;
};

/**
 * The first transaction of a send: judges every contact, reserves the quota for those to be mailed or
 * refuses all of them, keeps the contacts, claims each address, and leaves the jobs in the outbox.
 */
export async function claim(db: Db, where: Where, wish: Wish): Promise<Claimed> {
  return await inTransaction(db, async (tx) => {
    const { settings, judgements } = await judgeUnderLock(tx, where, wish.submitted);
    const contacts = await saveContacts(tx, where, recipientsOf(wish.submitted, judgements));
    const claims = await insertClaims(tx, where, {
      requestId: wish.requestId,
      month: settings.month,
      traceparent: wish.traceparent,
      claims: claimsOf(judgements, contacts),
    });
    if (claims.length > 0 || contacts.some(({ added }) => added)) {
      await reopenSurvey(tx, where.orgId, where.surveyId);
    }
    await addUsage(tx, where.orgId, settings.month, claims.length);
    await keepWithheld(tx, where, judgements);
    await enqueue(
      tx,
      jobsOf(
        { orgId: where.orgId, traceparent: wish.traceparent },
        claims.map(({ id }) => id),
      ),
    );

    const mailed = new Set(claims.map(({ contact_id }) => contact_id));
    const claimed = new Set(contacts.filter(({ id }) => mailed.has(id)).map(({ key }) => key));
    return { judgements, contacts, claimed };
  });
}

/** The same judgement, with nothing written and nothing sent. */
export async function judgeOnly(db: Db, where: Where, submitted: readonly Submitted[]) {
  const rollback = new Error('only looking');
  let looked: Claimed | undefined;
  await inTransaction(db, async (tx) => {
    const { judgements } = await judgeUnderLock(tx, where, submitted);
    const keys = uniqueRecipients(submitted).map(({ key }) => key);
    const contacts = [...(await listByAddress(tx, where, keys))];
    looked = { judgements, contacts, claimed: new Set(toSend(judgements).map(({ key }) => key)) };
    throw rollback;
  }).catch((error: unknown) => {
    if (error !== rollback) throw error;
  });
  return looked!;
}

/** Sends of one organization take turns here, so that its limit and its frequency rule hold. */
async function judgeUnderLock(tx: Sql, where: Where, submitted: readonly Submitted[]) {
  const settings = await lockUsage(tx, where.orgId);
  const survey = await lockForContacts(tx, where);
  if (survey.status === 'draft') {
    throw new Refusal('invalid', 'the survey is a draft: open it before sending it', {
      code: 'survey_draft',
    });
  }
  const facts = await loadFacts(tx, where, {
    keys: uniqueRecipients(submitted).map(({ key }) => key),
    frequencyDays: settings.frequency_days,
  });
  const byKey = new Map(facts.map((each) => [each.key, each]));
  const judgements = judgeAll(submitted, byKey, settings.frequency_days);
  refuseOverLimit(settings, toSend(judgements).length);
  return { settings, judgements };
}

const toSend = (judgements: readonly Judgement[]) =>
  judgements.flatMap((judgement) => ('send' in judgement ? [judgement.send] : []));

function uniqueRecipients(submitted: readonly Submitted[]): CheckedContact[] {
  const unique = new Map<string, CheckedContact>();
  for (const { recipient } of submitted) {
    if (recipient && !unique.has(recipient.key)) unique.set(recipient.key, recipient);
  }
  return [...unique.values()];
}

/** Each address once, and whether it is to be mailed. */
function recipientsOf(submitted: readonly Submitted[], judgements: readonly Judgement[]) {
  const mailed = new Set(toSend(judgements).map(({ key }) => key));
  return uniqueRecipients(submitted).map((each) => ({ ...each, sending: mailed.has(each.key) }));
}

function claimsOf(judgements: readonly Judgement[], contacts: Claimed['contacts']) {
  const idOf = new Map(contacts.map(({ key, id }) => [key, id]));
  return toSend(judgements).map(({ key, email }) => ({ contact_id: idOf.get(key)!, email }));
}

async function keepWithheld(tx: Sql, where: Where, judgements: readonly Judgement[]) {
  const withheld = judgements.flatMap((judgement) => {
    if ('send' in judgement || judgement.key === null) return [];
    const { key, reason_code, reason } = judgement;
    return withheldByRule.has(reason_code) ? [{ email: key, reason_code, reason }] : [];
  });
  if (withheld.length > 0) await insertWithheld(tx, where, withheld);
}

type Whose = { orgId: string; traceparent: string | null };

/** Jobs that mail what is claimed. */
export function jobsOf({ orgId, traceparent }: Whose, sendIds: readonly string[]): NewJob[] {
  const jobs: NewJob[] = [];
  for (let from = 0; from < sendIds.length; from += mailsPerJob) {
    const mail_ids = sendIds.slice(from, from + mailsPerJob);
    jobs.push({ task: 'sends.mail', payload: { org_id: orgId, mail_ids }, traceparent });
  }
  return jobs;
}
