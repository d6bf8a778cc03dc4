import type { Context } from 'hono';
import { notFound } from '../../errors.ts';
import type { Db } from '../../lib/db/db.ts';
import { isUuid } from '../../lib/validation/parse.ts';
import type { ScreenEnv } from '../../sessions/session.ts';
import { findPerson } from '../queries.ts';

/** The person whose contact the path names. */
export async function getPerson(c: Context<ScreenEnv>, db: Db) {
  const id = c.req.param('id') ?? '';
  const person = isUuid(id) ? await findPerson(db, c.var.organization.id, id) : undefined;
  if (!person) throw notFound('person');
  return person;
}

export const peoplePath = (c: Context<ScreenEnv>) => `/o/${c.var.organization.slug}/people`;
