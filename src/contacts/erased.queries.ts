import { Refusal } from '../errors.ts';
import { type Sql, violates } from '../lib/db/db.ts';

/** Those of these addresses (in lower case) that were erased and not allowed again. */
export async function listErased(sql: Sql, orgId: string, keys: readonly string[]) {
  if (keys.length === 0) return new Set<string>();
  const rows = await sql<{ key: string }[]>`
    select given.key
    from organizations o
    cross join unnest(${[...keys]}::text[]) as given (key)
    where o.id = ${orgId}
      and (select exists (select from erasures where org_id = ${orgId} and allowed_at is null))
      and exists (
        select from erasures e
        where e.org_id = o.id and e.allowed_at is null and e.address_hash = keyed_hash(o.address_key, given.key)
      )`;
  return new Set(rows.map(({ key }) => key));
}

export const isErasedAddress = async (sql: Sql, orgId: string, key: string) =>
  (await listErased(sql, orgId, [key])).size > 0;

/** Whether an insert failed because a contact has the address of a person who was erased. */
export const isOfErased = (error: unknown) => violates(error, 'contacts_are_not_erased');

export const addressErased = () =>
  new Refusal('conflict', 'the person of this address was erased: an owner can allow it again', {
    code: 'erased',
  });
