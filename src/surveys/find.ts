import { notFound } from '../errors.ts';
import type { Sql } from '../lib/db/db.ts';
import { findManagedSurvey } from './manage.queries.ts';

/** The survey that a command names by its id. */
export async function getSurvey(sql: Sql, id: string) {
  const survey = await findManagedSurvey(sql, id);
  if (!survey) throw notFound('survey');
  return survey;
}
