import type { Writer } from '../audit/actor.ts';
import { recordAct } from '../audit/record.ts';
import type { Db } from '../lib/db/db.ts';
import { inTransaction } from '../lib/db/transaction.ts';
import { hasAnswers } from './change.ts';
import { deleteSurveyRow, findUse, lockManagedSurvey } from './manage.queries.ts';

const withThem = 'answers=delete, or --answers of the command, deletes them with it';

/** Deletes a survey with its contacts and mails; one that has answers only together with those. */
export async function deleteSurvey(
  { db }: { db: Db },
  { orgId, actor }: Writer,
  { id, withAnswers }: { id: string; withAnswers: boolean },
) {
  await inTransaction(db, async (tx) => {
    const survey = await lockManagedSurvey(tx, orgId, { id, against: 'answers' });
    const { answered } = await findUse(tx, orgId, id);
    if (answered && !withAnswers) throw hasAnswers(withThem);
    await deleteSurveyRow(tx, orgId, survey.id);
    const details = { name: survey.name, answers: answered };
    const target = { kind: 'survey', id };
    await recordAct(tx, { orgId, actor, act: 'survey.deleted', target, details });
  });
}
