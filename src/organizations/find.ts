import { notFound } from '../errors.ts';
import type { Sql } from '../lib/db/db.ts';
import { findOrganization } from './queries.ts';

/** The organization that a command names by its id. */
export async function getOrganization(sql: Sql, id: string) {
  const organization = await findOrganization(sql, id);
  if (!organization) throw notFound('organization');
  return organization;
}
