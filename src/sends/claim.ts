import { type Actor, recordAct } from '../audit/acts.ts';
import { type FoundContact, listByAddress, saveContacts } from '../contacts/queries.ts';
import type { CheckedContact } from '../contacts/rules.ts';
import { complainOfMerges } from '../contacts/save.ts';
import { Refusal } from '../errors.ts';
import { enqueue } from '../jobs.ts';
import { type Db, inTransaction, type Sql } from '../lib/db/db.ts';
import { addUsage, lockUsage, refuseOverLimit } from '../organizations/queries.ts';
import { lockForContacts } from '../surveys/lifecycle.ts';
import { type OrgSurvey, reopenSurvey } from '../surveys/queries.ts';
import { jobsOf } from './mail-job.ts';
import { type ClaimRow, insertBlocked, insertClaims, loadFacts } from './queries.ts';
import { isErased, type Judgement, judgeAll, type SubmittedContact } from './rules.ts';

export type SentSurvey = { orgId: string; surveyId: string };

export type ClaimRequest = {
  requestId: string;
  submitted: readonly SubmittedContact[];
  traceparent: string | null;
  /** The author of the send, unless the act was recorded before. */
  actor?: Actor;
};

export type Claimed = {
  judgements: Judgement[];
  contacts: FoundContact[];
  /** Addresses that this request mails; another request may have claimed some of them first. */
  claimed: Set<string>;
};

/**
 * The first transaction of a send: judges every contact, reserves the quota of all mails or refuses the
 * send, saves the contacts, claims each address, and enqueues their jobs.
 */
export async function claim(db: Db, survey: SentSurvey, request: ClaimRequest): Promise<Claimed> {
  return await inTransaction(db, async (tx) => {
    const { settings, judgements, storable } = await judgeUnderLock(tx, survey, request.submitted);
    const contacts = await saveContacts(tx, survey, recipientsOf(storable, judgements));
    const claims = await insertClaims(tx, survey, {
      requestId: request.requestId,
      month: settings.month,
      traceparent: request.traceparent,
      awaited: true,
      reminder: 0,
      claims: claimsOf(judgements, contacts),
    });
    await writeSideEffects(tx, survey, {
      request,
      claims,
      judgements,
      month: settings.month,
      isActive: claims.length > 0 || contacts.some(({ added }) => added),
    });
    const mailed = new Set(claims.map(({ contact_id }) => contact_id));
    const claimed = new Set(contacts.filter(({ id }) => mailed.has(id)).map(({ key }) => key));
    return { judgements, contacts, claimed };
  });
}

/** The same judgement; nothing is written or sent. */
export async function judgeOnly(
  db: Db,
  survey: SentSurvey,
  submitted: readonly SubmittedContact[],
) {
  const rollback = new Error('only looking');
  let looked: Claimed | undefined;
  await inTransaction(db, async (tx) => {
    const { judgements, storable } = await judgeUnderLock(tx, survey, submitted);
    const keys = uniqueRecipients(storable).map(({ key }) => key);
    const contacts = [...(await listByAddress(tx, survey, keys))];
    const claimed = new Set(toSend(judgements).map(({ key }) => key));
    looked = { judgements, contacts, claimed };
    throw rollback;
  }).catch((error: unknown) => {
    if (error !== rollback) throw error;
  });
  return looked!;
}

/** Sends of one organization run one after the other, so that its limit and its frequency rule hold. */
async function judgeUnderLock(tx: Sql, survey: SentSurvey, submitted: readonly SubmittedContact[]) {
  // They travel together, and lock in this order.
  const [settings, , complaints] = await Promise.all([
    lockUsage(tx, survey.orgId),
    lockOpenSurvey(tx, survey),
    complainOfMerges(tx, survey, uniqueRecipients(submitted)),
  ]);
  const storable = refuseOverfull(submitted, complaints);
  const frequencyDays = settings.frequency_days;
  const judgements = await judgeContacts(tx, survey, { submitted: storable, frequencyDays });
  refuseOverLimit(settings, toSend(judgements).length);
  return { settings, judgements, storable };
}

/** The survey must be one that can be sent; it neither completes nor closes meanwhile. */
export async function lockOpenSurvey(tx: Sql, survey: SentSurvey) {
  const { status } = await lockForContacts(tx, survey);
  if (status !== 'draft') return;
  throw new Refusal('invalid', 'the survey is a draft: open it before sending it', {
    code: 'survey_draft',
  });
}

type ToJudge = { submitted: readonly SubmittedContact[]; frequencyDays: number | null };

/** The one judgement of who is mailed, for sends and campaigns. */
export async function judgeContacts(
  sql: Sql,
  survey: SentSurvey,
  { submitted, frequencyDays }: ToJudge,
): Promise<Judgement[]> {
  const keys = uniqueRecipients(submitted).map(({ key }) => key);
  const facts = await loadFacts(sql, survey, { keys, frequencyDays });
  const byKey = new Map(facts.map((each) => [each.key, each]));
  return judgeAll(submitted, byKey, frequencyDays);
}

/** A contact whose properties would grow too large is refused, like one that is submitted too large. */
function refuseOverfull(
  submitted: readonly SubmittedContact[],
  complaints: ReadonlyMap<string, string>,
) {
  if (complaints.size === 0) return submitted;
  return submitted.map((each) => {
    const complaint = each.recipient && complaints.get(each.recipient.key);
    return complaint ? { ...each, recipient: null, complaint: `properties ${complaint}` } : each;
  });
}

const toSend = (judgements: readonly Judgement[]) =>
  judgements.flatMap((judgement) => ('send' in judgement ? [judgement.send] : []));

function uniqueRecipients(submitted: readonly SubmittedContact[]): CheckedContact[] {
  const unique = new Map<string, CheckedContact>();
  for (const { recipient } of submitted) {
    if (recipient && !unique.has(recipient.key)) unique.set(recipient.key, recipient);
  }
  return [...unique.values()];
}

function recipientsOf(submitted: readonly SubmittedContact[], judgements: readonly Judgement[]) {
  const mailed = new Set(toSend(judgements).map(({ key }) => key));
  const erased = new Set(judgements.filter(isErased).map(({ key }) => key));
  const stored = uniqueRecipients(submitted).filter(({ key }) => !erased.has(key));
  return stored.map(({ key, ...each }) => ({
    ...each,
    status: mailed.has(key) ? ('sending' as const) : ('pending' as const),
  }));
}

function claimsOf(judgements: readonly Judgement[], contacts: Claimed['contacts']) {
  const idOf = new Map(contacts.map(({ key, id }) => [key, id]));
  return toSend(judgements).map(({ key, email }) => ({ contact_id: idOf.get(key)!, email }));
}

type SideEffects = {
  request: { traceparent: string | null; submitted: readonly unknown[]; actor?: Actor };
  claims: readonly ClaimRow[];
  judgements: readonly Judgement[];
  month: string;
  isActive: boolean;
};

/** Side effects of a claim, pipelined in one round trip. */
async function writeSideEffects(
  tx: Sql,
  survey: OrgSurvey,
  { request, claims, judgements, month, isActive }: SideEffects,
) {
  const { orgId, surveyId } = survey;
  const jobs = jobsOf(
    { orgId, traceparent: request.traceparent },
    claims.map(({ id }) => id),
  );
  await Promise.all([
    isActive && reopenSurvey(tx, orgId, surveyId),
    addUsage(tx, orgId, month, claims.length),
    saveBlocked(tx, survey, judgements),
    enqueue(tx, jobs),
    auditSend(tx, survey, { ...request, mails: claims.length }),
  ]);
}

const blockingCodes = new Set(['unsubscribed', 'bounced', 'frequency']);

/** Keeps which mails a rule blocked, for the question why an address got none. */
export async function saveBlocked(tx: Sql, survey: OrgSurvey, judgements: readonly Judgement[]) {
  const blocked = judgements.flatMap((judgement) => {
    if ('send' in judgement || judgement.key === null) return [];
    const { key, reason_code, reason } = judgement;
    return blockingCodes.has(reason_code) ? [{ email: key, reason_code, reason }] : [];
  });
  if (blocked.length > 0) await insertBlocked(tx, survey, blocked);
}

type RequestedSend = { actor?: Actor; submitted: readonly unknown[]; mails: number };

async function auditSend(
  tx: Sql,
  { orgId, surveyId }: { orgId: string; surveyId: string },
  { actor, submitted, mails }: RequestedSend,
) {
  if (!actor) return;
  const target = { kind: 'survey', id: surveyId };
  const details = { contacts: submitted.length, mails };
  await recordAct(tx, { orgId, actor, act: 'send.requested', target, details });
}
