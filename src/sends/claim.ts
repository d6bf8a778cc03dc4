import { type Actor, recordAct } from '../audit/acts.ts';
import { type ContactToken, listByAddress, saveContacts } from '../contacts/queries.ts';
import { startRounds } from '../contacts/rounds.ts';
import type { CheckedContact } from '../contacts/rules.ts';
import { validateMerges } from '../contacts/save.ts';
import { Refusal } from '../errors.ts';
import { enqueue } from '../jobs.ts';
import { type Db, inRetriedTransaction, inTransaction, type Sql } from '../lib/db/db.ts';
import { addUsage, lockUsage, readUsage, refuseOverLimit } from '../organizations/queries.ts';
import { lockForContacts } from '../surveys/lifecycle.ts';
import { type OrgSurvey, reopenSurvey } from '../surveys/queries.ts';
import { mailJobs } from './mail-job.ts';
import { insertBlocked, insertClaims, loadFacts } from './queries.ts';
import { isErased, type Judgement, judgeAll, type SubmittedContact } from './rules.ts';

export type ClaimRequest = {
  requestId: string;
  submitted: readonly SubmittedContact[];
  traceparent: string | null;
  /** The author in the audit log. Unset if the send is audited elsewhere. */
  actor?: Actor;
};

export type Claimed = {
  judgements: Judgement[];
  contacts: ContactToken[];
  /** Addresses that this request emails. Excludes addresses that another request claimed first. */
  claimed: Set<string>;
};

/**
 * First transaction of a send: evaluates every contact, reserves quota for all emails or refuses the send, saves the
 * contacts, claims each address and enqueues the jobs.
 */
export async function claim(db: Db, survey: OrgSurvey, request: ClaimRequest): Promise<Claimed> {
  const { orgId, surveyId } = survey;
  const { requestId, submitted, traceparent, actor } = request;
  return await inRetriedTransaction(db, async (tx) => {
    const { month, judgements, storable } = await judgeSend(tx, survey, submitted, lockUsage);
    const toMail = new Map(toSend(judgements).map((each) => [each.key, each]));
    const erased = new Set(judgements.filter(isErased).map(({ key }) => key));
    await startRounds(tx, survey, { keys: dueKeys(judgements) });
    const contacts = await saveContacts(
      tx,
      survey,
      uniqueRecipients(storable)
        .filter(({ key }) => !erased.has(key))
        .map(({ key, ...each }) => ({ ...each, status: toMail.has(key) ? 'sending' : 'pending' })),
    );
    const claims = await insertClaims(tx, survey, {
      requestId,
      month,
      traceparent,
      awaited: true,
      reminder: 0,
      claims: contacts.flatMap(({ id, key }) => {
        const recipient = toMail.get(key);
        return recipient ? [{ contact_id: id, email: recipient.email }] : [];
      }),
    });
    const mailIds = claims.map(({ id }) => id);
    const details = { contacts: submitted.length, mails: claims.length };
    const target = { kind: 'survey', id: surveyId };
    const isActive = claims.length > 0 || contacts.some(({ added }) => added);
    // Side effects of a claim, pipelined in one round trip.
    await Promise.all([
      isActive && reopenSurvey(tx, orgId, surveyId),
      addUsage(tx, orgId, month, claims.length),
      saveBlocked(tx, survey, judgements),
      enqueue(tx, mailJobs({ orgId, traceparent }, mailIds)),
      actor && recordAct(tx, { orgId, actor, act: 'send.requested', target, details }),
    ]);
    const mailed = new Set(claims.map(({ contact_id }) => contact_id));
    const claimed = new Set(contacts.filter(({ id }) => mailed.has(id)).map(({ key }) => key));
    return { judgements, contacts, claimed };
  });
}

export const dryRunClaim = (db: Db, survey: OrgSurvey, submitted: readonly SubmittedContact[]) =>
  inTransaction(db, async (tx): Promise<Claimed> => {
    const { judgements, storable } = await judgeSend(tx, survey, submitted, readUsage);
    const keys = uniqueRecipients(storable).map(({ key }) => key);
    const contacts = [...(await listByAddress(tx, survey, keys))];
    const claimed = new Set(toSend(judgements).map(({ key }) => key));
    return { judgements, contacts, claimed };
  });

/** Serializes the sends of an organization, so that its limit and its frequency rule hold. */
async function judgeSend(
  tx: Sql,
  survey: OrgSurvey,
  submitted: readonly SubmittedContact[],
  usageOf: typeof lockUsage,
) {
  // Pipelined in one round trip. The locks are taken in this order.
  const [settings, , complaints] = await Promise.all([
    usageOf(tx, survey.orgId),
    lockOpenSurvey(tx, survey),
    validateMerges(tx, survey, uniqueRecipients(submitted)),
  ]);
  const storable = submitted.map((each) => {
    const complaint = each.recipient && complaints.get(each.recipient.key);
    return complaint ? { ...each, recipient: null, complaint: `properties ${complaint}` } : each;
  });
  const rules = { frequencyDays: settings.frequency_days };
  const judgements = await judgeContacts(tx, survey, storable, rules);
  refuseOverLimit(settings, toSend(judgements).length);
  return { month: settings.month, judgements, storable };
}

/** Refuses a draft, and keeps the survey from completing or closing until the transaction ends. */
export async function lockOpenSurvey(tx: Sql, survey: OrgSurvey) {
  const { status } = await lockForContacts(tx, survey);
  if (status !== 'draft') return;
  throw new Refusal('invalid', 'the survey is a draft: open it before sending it', {
    code: 'survey_draft',
  });
}

/** Decides who gets the email, for sends and campaigns alike. Rounds must be due at `at`. */
export async function judgeContacts(
  sql: Sql,
  survey: OrgSurvey,
  submitted: readonly SubmittedContact[],
  { frequencyDays, at = null }: { frequencyDays: number | null; at?: Date | null },
): Promise<Judgement[]> {
  const keys = uniqueRecipients(submitted).map(({ key }) => key);
  const facts = await loadFacts(sql, survey, { keys, frequencyDays, at });
  return judgeAll(submitted, new Map(facts.map((each) => [each.key, each])), frequencyDays);
}

const toSend = (judgements: readonly Judgement[]) =>
  judgements.flatMap((judgement) => ('send' in judgement ? [judgement.send] : []));

const dueKeys = (judgements: readonly Judgement[]) =>
  judgements.flatMap((judgement) =>
    'send' in judgement && judgement.isDue ? [judgement.send.key] : [],
  );

function uniqueRecipients(submitted: readonly SubmittedContact[]): CheckedContact[] {
  const unique = new Map<string, CheckedContact>();
  for (const { recipient } of submitted) {
    if (recipient && !unique.has(recipient.key)) unique.set(recipient.key, recipient);
  }
  return [...unique.values()];
}

const blockingCodes = new Set(['unsubscribed', 'bounced', 'frequency']);

/** Records the emails that a rule blocked, for the timeline of the person. */
export async function saveBlocked(tx: Sql, survey: OrgSurvey, judgements: readonly Judgement[]) {
  const blocked = judgements.flatMap((judgement) => {
    if ('send' in judgement || judgement.key === null) return [];
    const { key, reason_code, reason } = judgement;
    return blockingCodes.has(reason_code) ? [{ email: key, reason_code, reason }] : [];
  });
  if (blocked.length > 0) await insertBlocked(tx, survey, blocked);
}
