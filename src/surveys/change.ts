import type { Writer } from '../audit/actor.ts';
import { recordAct } from '../audit/record.ts';
import { Refusal } from '../errors.ts';
import type { Db, Sql } from '../lib/db/db.ts';
import { inTransaction } from '../lib/db/transaction.ts';
import { checkContent } from './content.rules.ts';
import {
  findUse,
  lockManagedSurvey,
  type ManagedSurvey,
  type SurveyChanges,
  updateSurvey,
} from './manage.queries.ts';
import type { SurveyChange } from './wish.schemas.ts';

/** Changes what is given; what is not stays. Type and audience stay once there are answers. */
export async function changeSurvey(
  { db }: { db: Db },
  { orgId, actor }: Writer,
  { id, change }: { id: string; change: SurveyChange },
): Promise<ManagedSurvey> {
  const changes = givenOf(change);
  // A change of the scale waits for answers in flight; those after it are judged by the new one.
  const against = change.type || change.audience !== undefined ? 'answers' : 'changes';
  return await inTransaction(db, async (tx) => {
    const survey = await lockManagedSurvey(tx, orgId, { id, against });
    await refuseWhenUsed(tx, survey, changes);
    checkContent({ ...survey, ...changes });
    if (Object.keys(changes).length === 0) return survey;
    const changed = await updateSurvey(tx, survey, changes);
    const details = { fields: Object.keys(changes) };
    const target = { kind: 'survey', id };
    await recordAct(tx, { orgId, actor, act: 'survey.changed', target, details });
    return changed;
  });
}

/** What is undefined is not given. An address for replies cannot be taken away, only changed. */
const givenOf = (change: SurveyChange) =>
  Object.fromEntries(
    Object.entries(change).filter(([, value]) => value !== undefined),
  ) as SurveyChanges;

async function refuseWhenUsed(tx: Sql, survey: ManagedSurvey, changes: SurveyChanges) {
  const { type = survey.type, audience = survey.audience, status = survey.status } = changes;
  const isRescaled = type !== survey.type || audience !== survey.audience;
  if (!isRescaled && status === survey.status) return;
  if (survey.status === 'completed' && changes.status) throw isCompleted();
  const { answered, mailed } = await findUse(tx, survey.org_id, survey.id);
  if (isRescaled && answered) throw hasAnswers('its type and audience can no longer change');
  if (status === 'draft' && status !== survey.status && (answered || mailed)) {
    throw new Refusal('conflict', 'the survey was sent or answered: it is no draft any more', {
      code: 'survey_in_use',
    });
  }
}

const isCompleted = () =>
  new Refusal('conflict', 'the survey is completed: reopen it to make it active again', {
    code: 'survey_completed',
  });

export const hasAnswers = (consequence: string) =>
  new Refusal('conflict', `the survey has answers: ${consequence}`, { code: 'survey_has_answers' });
