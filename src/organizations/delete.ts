import { type Actor, recordAct } from '../audit/acts.ts';
import { notFound, Refusal } from '../errors.ts';
import { type Db, inTransaction, one, type Sql } from '../lib/db/db.ts';
import { deleteInBatches, deleteRows } from '../lib/db/delete-in-batches.ts';
import { revokeReporter } from '../reporters/reporters.ts';
import { getOrganization } from './queries.ts';

/** The record of a deleted organization, without any address or answer. */
export type DeletionReceipt = { id: string; name: string; deleted_at: Date } & Contents;

/**
 * Deletes an organization and all its data. Large tables are emptied first, in batches, so that an interrupted
 * deletion can be repeated.
 */
export async function deleteOrganization(
  db: Db,
  actor: Actor,
  { id, confirm }: { id: string; confirm: string },
): Promise<DeletionReceipt> {
  const { name } = await getOrganization(db, id);
  if (confirm !== name) {
    throw new Refusal('conflict', `the name of this organization is ${name}`, {
      code: 'name_differs',
    });
  }
  const reporters = await db<{ name: string }[]>`select name from reporters where org_id = ${id}`;
  for (const reporter of reporters) await revokeReporter(db, reporter.name, actor);
  await deleteCounted(db, id, 'responses');
  await deleteCounted(db, id, 'contacts');
  await deleteRows(db, 'people', db`org_id = ${id}`);
  return await inTransaction(db, async (tx) => {
    await tx`select set_config('statement_timeout', '20min', true)`;
    const contents = await countContents(tx, id);
    const [deleted] = await tx<{ deleted_at: Date }[]>`
      delete from organizations
      where id = ${id}
      returning now() as deleted_at`;
    if (!deleted || !contents) throw notFound('organization');
    const target = { kind: 'organization', id };
    const details = { name, ...contents };
    await recordAct(tx, { orgId: null, actor, act: 'organization.deleted', target, details });
    return { id, name, ...deleted, ...contents };
  });
}

type Contents = { members: number; surveys: number; contacts: number; responses: number };

/** Adds the deleted rows to the organization's counts, so that the receipt includes interrupted deletions. */
const deleteCounted = (db: Db, orgId: string, table: 'responses' | 'contacts') =>
  deleteInBatches(async (maxRows) => {
    const { count } = one(
      await db<{ count: number }[]>`
        with batch as (
          delete from ${db(table)}
          where org_id = ${orgId} and ctid = any(array(
            select ctid from ${db(table)} where org_id = ${orgId} limit ${maxRows} for update skip locked
          ))
          returning 1
        ), counted as (
          update organizations
          set deleted = deleted || jsonb_build_object(
                ${table}::text, coalesce((deleted ->> ${table})::int, 0) + (select count(*) from batch))
          where id = ${orgId}
        )
        select count(*)::int from batch`,
    );
    return count;
  }, maxDeleted);

const maxDeleted = 1000;

async function countContents(sql: Sql, orgId: string): Promise<Contents | undefined> {
  const [contents] = await sql<Contents[]>`
    select (select count(*)::int from memberships where org_id = ${orgId}) as members,
           (select count(*)::int from surveys where org_id = ${orgId})     as surveys,
           (select count(*)::int from contacts where org_id = ${orgId})
             + coalesce((deleted ->> 'contacts')::int, 0)  as contacts,
           (select count(*)::int from responses where org_id = ${orgId})
             + coalesce((deleted ->> 'responses')::int, 0) as responses
    from organizations
    where id = ${orgId}`;
  return contents;
}
