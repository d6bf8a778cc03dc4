import { randomBytes } from 'node:crypto';
import * as v from 'valibot';
import {
  type Act,
  type AuditedAct,
  changesOf,
  jobWriter,
  recordAct,
  type Writer,
} from '../audit/acts.ts';
import { notFound, Refusal } from '../errors.ts';
import { type Db, inTransaction, type Sql, violates } from '../lib/db/db.ts';
import { type IfMatch, refuseOtherVersion, versionOf } from '../lib/http/version.ts';
import { getOrganization } from '../organizations/queries.ts';
import { filterOfAudience } from '../people/audience.ts';
import { copyQuestions, mergeQuestions } from '../questions/definition.ts';
import { findAnswered } from '../questions/queries.ts';
import { emitted } from '../signals.ts';
import { averageScore, netPromoterScore, npsInterval } from '../survey-types.ts';
import { emit } from '../webhooks/emit.ts';
import { surveyCompleted } from '../webhooks/events.ts';
import {
  activate,
  type CompletedSurvey,
  completeSurvey,
  deleteSurveyRow,
  findUse,
  getOrgSurvey,
  holdOffErasures,
  insertSurvey,
  lockSurvey,
  type ManagedSurvey,
  type OrgSurvey,
  type SurveyChanges,
  type SurveyContent,
  type SurveyRow,
  type SurveyStatus,
  updateSurvey,
} from './queries.ts';
import {
  type Embedding,
  embeddingOf,
  type SurveyChange,
  SurveyChangeInput,
  type SurveyInput,
} from './schemas.ts';
import { checkContent, nameOfCopy } from './texts.ts';

export async function copySurvey(
  { db }: { db: Db },
  by: Writer,
  surveyId: string,
): Promise<ManagedSurvey> {
  const { orgId } = by;
  return await inTransaction(db, async (tx) => {
    const { id, org_id, share_id, status, completed_by, created_at, updated_at, ...content } =
      await getOrgSurvey(tx, orgId, surveyId, 'changes');
    const name = nameOfCopy(content.name);
    const questions = copyQuestions(content.questions);
    const copy = await addSurvey(tx, orgId, { ...content, questions, name, status: 'draft' });
    await record(tx, by, 'survey.copied', copy.id, { name: copy.name, copy_of: surveyId });
    return copy;
  });
}

/** Locks the survey until the transaction ends, so that it cannot complete while its contacts change. */
export async function lockForContacts(sql: Sql, { orgId, surveyId }: OrgSurvey) {
  const [, survey] = await Promise.all([
    holdOffErasures(sql, orgId),
    lockSurvey(sql, orgId, surveyId),
  ]);
  if (!survey) throw notFound('survey');
  if (survey.completed_by === 'hand') {
    throw new Refusal('invalid', 'the survey is closed, so you cannot add contacts', {
      code: 'survey_closed',
    });
  }
  return survey;
}

/**
 * Completes the survey if all of its contacts have answered, and notifies subscribers. Call it in the transaction
 * that locks the survey. Otherwise the last two answers could miss each other.
 */
export async function completeIfAnswered(
  tx: Sql,
  { orgId, traceparent = null }: { orgId: string; traceparent?: string | null },
  surveyId: string,
) {
  const survey = await completeSurvey(tx, orgId, { surveyId, by: 'answers' });
  if (!survey) return false;
  await publishCompletion(tx, { orgId, traceparent }, { surveyId, ...survey });
  const writer = jobWriter(orgId, 'every contact has responded');
  await record(tx, writer, 'survey.completed', surveyId);
  return true;
}

export const openSurvey = ({ db }: { db: Db }, by: Writer, surveyId: string) =>
  activateSurvey(db, by, { surveyId, from: 'draft' });

export const reopenByHand = ({ db }: { db: Db }, by: Writer, surveyId: string) =>
  activateSurvey(db, by, { surveyId, from: 'completed' });

/** Does nothing if the survey is already active. */
const activateSurvey = (
  db: Db,
  by: Writer,
  { surveyId, from }: { surveyId: string; from: 'draft' | 'completed' },
): Promise<ManagedSurvey> =>
  inTransaction(db, async (tx) => {
    const activated = await activate(tx, by.orgId, surveyId, from);
    const survey = activated ?? (await getOrgSurvey(tx, by.orgId, surveyId));
    const opens = from === 'draft';
    if (opens && survey.status === 'completed') throw surveyCompletedError();
    if (!opens && survey.status === 'draft') throw surveyDraftError();
    if (activated) await record(tx, by, opens ? 'survey.opened' : 'survey.reopened', surveyId);
    return survey;
  });

const surveyCompletedError = () =>
  new Refusal('conflict', 'the survey is completed: reopen it first', {
    code: 'survey_completed',
  });

const surveyDraftError = () =>
  new Refusal('conflict', 'the survey is a draft: open it instead', { code: 'survey_draft' });

/** Refuses an audience without its segment, and keeps the segment from being deleted until the transaction ends. */
async function lockAudience(tx: Sql, orgId: string, { repeat }: Pick<SurveyChange, 'repeat'>) {
  if (repeat?.audience) await filterOfAudience(tx, orgId, repeat.audience);
}

/** Publishes the completion, unless the survey had already completed. */
export async function closeSurvey({ db }: { db: Db }, by: Writer, surveyId: string) {
  const { orgId } = by;
  const isNew = await inTransaction(db, async (tx) => {
    const before = await lockSurvey(tx, orgId, surveyId);
    const survey = await completeSurvey(tx, orgId, { surveyId, by: 'hand' });
    if (!before || !survey) throw notFound('survey');
    const isNew = before.status !== 'completed';
    if (isNew) await publishCompletion(tx, { orgId }, { surveyId, ...survey });
    if (before.completed_by !== 'hand') await record(tx, by, 'survey.closed', surveyId);
    return isNew;
  });
  if (isNew) emitted.publish({ event: 'survey.completed' });
}

const record = (
  tx: Sql,
  { orgId, actor }: Writer,
  act: Extract<Act, `survey.${string}`>,
  id: string,
  details?: AuditedAct['details'],
) => recordAct(tx, { orgId, actor, act, target: { kind: 'survey', id }, details });

async function publishCompletion(
  tx: Sql,
  whose: { orgId: string; traceparent?: string | null },
  survey: CompletedSurvey & { surveyId: string },
) {
  const event = surveyCompleted({ ...survey, at: survey.completed_at });
  await emit(tx, { ...whose, events: [event] });
}

export async function deleteSurvey(
  { db }: { db: Db },
  by: Writer,
  { id, withAnswers }: { id: string; withAnswers: boolean },
) {
  await inTransaction(db, async (tx) => {
    const survey = await getOrgSurvey(tx, by.orgId, id, 'answers');
    const { answered } = await findUse(tx, by.orgId, id);
    if (answered && !withAnswers) throw hasAnswersError('answers=delete deletes them too');
    await deleteSurveyRow(tx, by.orgId, survey.id);
    await record(tx, by, 'survey.deleted', id, { name: survey.name, answers: answered });
  });
}

export async function changeSurvey(
  { db }: { db: Db },
  by: Writer,
  { id, change, ifMatch }: { id: string; change: SurveyChange; ifMatch?: IfMatch },
): Promise<ManagedSurvey> {
  const { questions, ...rest } = change;
  // A change of scale or questions waits for answers in flight. Later answers are checked against the new survey.
  const isRechecked = change.type || change.audience !== undefined || questions;
  const lock = isRechecked ? 'answers' : 'changes';
  return await inTransaction(db, async (tx) => {
    const survey = await getOrgSurvey(tx, by.orgId, id, lock);
    refuseOtherVersion(versionOfSurvey(survey), ifMatch);
    const changes = withoutUndefined({
      ...rest,
      questions:
        questions && mergeQuestions(survey.questions, questions, await findAnswered(tx, survey)),
    }) as SurveyChanges;
    await refuseWhenUsed(tx, survey, changes);
    await lockAudience(tx, by.orgId, changes);
    checkContent({ ...survey, ...changes });
    if (Object.keys(changes).length === 0) return survey;
    const changed = await updateSurvey(tx, survey, changes);
    const audited = changesOf(survey, changes);
    if (Object.keys(audited).length > 0) {
      await record(tx, by, 'survey.changed', id, { changes: audited });
    }
    return changed;
  });
}

/** Covers the content only: answers and sent emails do not change the version. */
export const versionOfSurvey = (survey: SurveyContent & { status: SurveyStatus }) =>
  versionOf(survey, v.keyof(SurveyChangeInput).options);

export const withoutUndefined = (fields: object) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

async function refuseWhenUsed(tx: Sql, survey: ManagedSurvey, changes: SurveyChanges) {
  const { type = survey.type, audience = survey.audience, status = survey.status } = changes;
  const isRescaled = type !== survey.type || audience !== survey.audience;
  if (!isRescaled && status === survey.status) return;
  if (survey.status === 'completed' && changes.status) throw surveyCompletedError();
  const { answered, mailed } = await findUse(tx, survey.org_id, survey.id);
  if (isRescaled && answered) throw hasAnswersError('you cannot change its type or audience');
  if (status === 'draft' && status !== survey.status && (answered || mailed)) {
    throw new Refusal('conflict', 'the survey was sent or answered, so it cannot become a draft', {
      code: 'survey_in_use',
    });
  }
}

const hasAnswersError = (consequence: string) =>
  new Refusal('conflict', `the survey has responses: ${consequence}`, {
    code: 'survey_has_answers',
  });

export function surveyToJson(row: SurveyRow, publicUrl: string) {
  const { org_id, completed_by, share_id, promoters, passives, detractors, score_sum, ...survey } =
    row;
  const tally = { promoters, passives, detractors };
  const stats = {
    total_responses: survey.response_count,
    avg_score: averageScore(score_sum, survey.response_count),
    ...tally,
    nps: netPromoterScore(tally),
    interval: npsInterval(tally).interval,
  };
  const embed = embeddingOf(survey.embed);
  return { ...survey, embed, share_url: shareUrl(publicUrl, row), stats };
}

type NewSurveyValues = Omit<Partial<SurveyInput>, 'embed'> &
  Pick<SurveyInput, 'name' | 'question_text' | 'from_name' | 'from_email'> & {
    embed?: Partial<Embedding> | undefined;
    created_at?: Date;
  };

export async function createSurvey(
  { db }: { db: Db },
  by: Writer,
  wish: NewSurveyValues,
): Promise<ManagedSurvey> {
  return await inTransaction(db, async (tx) => {
    const survey = await addSurvey(tx, by.orgId, wish);
    const { id, name, status } = survey;
    await record(tx, by, 'survey.created', id, { name, status });
    return survey;
  });
}

export async function addSurvey(
  sql: Sql,
  orgId: string,
  wish: NewSurveyValues,
): Promise<ManagedSurvey> {
  const language = wish.language ?? (await getOrganization(sql, orgId)).language;
  const { type = 'nps', audience = null, texts = {}, from_email } = wish;
  checkContent({ type, audience, language, texts });
  await lockAudience(sql, orgId, wish);
  try {
    return await insertSurvey(sql, orgId, {
      ...withoutUndefined(wish),
      questions: mergeQuestions([], wish.questions ?? [], new Set()),
      name: wish.name,
      language,
      reply_to: wish.reply_to ?? from_email,
      share_id: randomBytes(12).toString('base64url'),
    });
  } catch (error) {
    throw violates(error, 'surveys_belong_to_organization') ? notFound('organization') : error;
  }
}

/** Token of the links in test emails, whose pages record nothing. No contact's token contains a dot. */
export const testToken = (shareId: string) => `test.${shareId}`;

export const shareIdOfTest = (token: string): string | undefined =>
  token.startsWith('test.') ? token.slice('test.'.length) : undefined;

export const shareUrl = (publicUrl: string | null, { share_id }: { share_id: string }) =>
  publicUrl && `${publicUrl}/f/${share_id}`;
