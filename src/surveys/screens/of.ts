import type { Context } from 'hono';
import { notFound } from '../../errors.ts';
import type { Db } from '../../lib/db/db.ts';
import { isUuid } from '../../lib/validation/parse.ts';
import type { ScreenEnv } from '../../sessions/session.ts';
import { getOrgSurvey } from '../manage.queries.ts';

/** The survey that the path names, if the organization has it. */
export const surveyOf = async (c: Context<ScreenEnv>, db: Db) =>
  await getOrgSurvey(db, c.var.organization.id, surveyIdOf(c));

/** An id that is not a UUID is not found, like one of another organization. */
export function surveyIdOf(c: Context<ScreenEnv>): string {
  const id = c.req.param('id') ?? '';
  if (!isUuid(id)) throw notFound('survey');
  return id;
}
