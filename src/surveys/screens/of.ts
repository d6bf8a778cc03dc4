import type { Context } from 'hono';
import { notFound } from '../../errors.ts';
import type { Db } from '../../lib/db/db.ts';
import { isUuid } from '../../lib/validation/parse.ts';
import type { ScreenEnv } from '../../sessions/session.ts';
import { getOrgSurvey } from '../manage.queries.ts';

/** The survey that the path names, if the organization has it. */
export async function surveyOf(c: Context<ScreenEnv>, db: Db) {
  const id = c.req.param('id') ?? '';
  if (!isUuid(id)) throw notFound('survey');
  return await getOrgSurvey(db, c.var.organization.id, id);
}
