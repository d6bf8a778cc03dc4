import { jobWriter, type Writer } from '../audit/actor.ts';
import { recordAct } from '../audit/record.ts';
import { notFound, Refusal } from '../errors.ts';
import type { Db, Sql } from '../lib/db/db.ts';
import { inTransaction } from '../lib/db/transaction.ts';
import { emitted } from '../signals.ts';
import { emit } from '../webhooks/emit.cte.ts';
import { surveyCompleted } from '../webhooks/events.ts';
import { type CompletedSurvey, closeByHand, completeAnswered } from './completion.queries.ts';
import { getOrgSurvey, type ManagedSurvey, openDraft, reopenCompleted } from './manage.queries.ts';
import { holdOffErasures, lockSurvey, type OrgSurvey } from './queries.ts';

/**
 * Locks a survey for a change of its contacts until the caller's transaction ends, so that it does not
 * complete meanwhile. A survey that was closed by hand takes no more contacts.
 */
export async function lockForContacts(sql: Sql, { orgId, surveyId }: OrgSurvey) {
  const [, survey] = await Promise.all([
    holdOffErasures(sql, orgId),
    lockSurvey(sql, orgId, surveyId),
  ]);
  if (!survey) throw notFound('survey');
  if (survey.completed_by === 'hand') {
    throw new Refusal('invalid', 'the survey is closed: it takes no more contacts', {
      code: 'survey_closed',
    });
  }
  return survey;
}

/**
 * Completes the survey if all of its contacts have answered, and notifies subscribers. To be called in the
 * transaction that holds the survey's lock: of the last two answers, the one that commits later sees
 * the other.
 */
export async function completeIfAnswered(
  tx: Sql,
  { orgId, traceparent = null }: { orgId: string; traceparent?: string | null },
  surveyId: string,
) {
  const survey = await completeAnswered(tx, orgId, surveyId);
  if (!survey) return false;
  await publishCompletion(tx, { orgId, traceparent }, { surveyId, ...survey });
  const writer = jobWriter(orgId, 'every contact has answered');
  await recordMove(tx, writer, { act: 'survey.completed', surveyId });
  return true;
}

/** Opens a draft: from now on it can be sent and answered. One that is open stays so. */
export async function openSurvey({ db }: { db: Db }, by: Writer, surveyId: string) {
  return await inTransaction(db, async (tx): Promise<ManagedSurvey> => {
    const opened = await openDraft(tx, by.orgId, surveyId);
    if (opened) await recordMove(tx, by, { act: 'survey.opened', surveyId });
    const survey = opened ?? (await getOrgSurvey(tx, by.orgId, surveyId));
    if (survey.status === 'completed') {
      throw new Refusal('conflict', 'the survey is completed: reopen it to make it active again', {
        code: 'survey_completed',
      });
    }
    return survey;
  });
}

/** Makes a completed survey active again, however it completed. One that is active stays so. */
export async function reopenByHand({ db }: { db: Db }, by: Writer, surveyId: string) {
  return await inTransaction(db, async (tx): Promise<ManagedSurvey> => {
    const reopened = await reopenCompleted(tx, by.orgId, surveyId);
    if (reopened) await recordMove(tx, by, { act: 'survey.reopened', surveyId });
    const survey = reopened ?? (await getOrgSurvey(tx, by.orgId, surveyId));
    if (survey.status === 'draft') {
      throw new Refusal('conflict', 'the survey is a draft: open it', { code: 'survey_draft' });
    }
    return survey;
  });
}

/** Closes a survey by hand. A survey that had completed by itself has published so already. */
export async function closeSurvey({ db }: { db: Db }, by: Writer, surveyId: string) {
  const { orgId } = by;
  const closed = await inTransaction(db, async (tx) => {
    await lockSurvey(tx, orgId, surveyId);
    const survey = await closeByHand(tx, orgId, surveyId);
    if (!survey) throw notFound('survey');
    if (survey.was !== 'completed') await publishCompletion(tx, { orgId }, { surveyId, ...survey });
    if (!survey.was_closed) await recordMove(tx, by, { act: 'survey.closed', surveyId });
    return { id: surveyId, name: survey.name, was: survey.was };
  });
  if (closed.was !== 'completed') emitted.publish({ event: 'survey.completed' });
  return closed;
}

type SurveyMove = {
  act: 'survey.completed' | 'survey.opened' | 'survey.closed' | 'survey.reopened';
  surveyId: string;
};

const recordMove = (tx: Sql, { orgId, actor }: Writer, { act, surveyId }: SurveyMove) =>
  recordAct(tx, { orgId, actor, act, target: { kind: 'survey', id: surveyId } });

async function publishCompletion(
  tx: Sql,
  whose: { orgId: string; traceparent?: string | null },
  survey: CompletedSurvey & { surveyId: string },
) {
  const event = surveyCompleted({ ...survey, at: survey.completed_at });
  await emit(tx, { ...whose, events: [event] });
}
