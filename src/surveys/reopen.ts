import { notFound, Refusal } from '../errors.ts';
import type { Sql } from '../lib/db/db.ts';
import { lockSurvey, reopenSurvey } from './queries.ts';

/**
 * Holds a survey for a change of its contacts until the caller's transaction ends, so that nobody
 * completes it meanwhile. One that was closed by hand takes no more contacts.
 */
export async function holdForContacts(sql: Sql, orgId: string, surveyId: string) {
  const survey = await lockSurvey(sql, orgId, surveyId);
  if (!survey) throw notFound('survey');
  if (survey.completed_by === 'hand') {
    throw new Refusal('invalid', 'the survey is closed: it takes no more contacts', {
      code: 'survey_closed',
    });
  }
  return survey;
}

/** A survey that completed because everybody had answered is active again: now somebody has not. */
export async function reopenForContact(sql: Sql, orgId: string, surveyId: string) {
  await reopenSurvey(sql, orgId, surveyId);
}
