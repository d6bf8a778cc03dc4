import { orNotFound, Refusal } from '../errors.ts';
import { type Db, inTransaction, json, one, type Sql, violates } from '../lib/db/db.ts';
import { addressPattern } from '../lib/smtp/address.ts';

/** Inbox filters that a member has saved, as pairs of name and value. */
export type SavedView = { id: string; name: string; filters: [string, string][] };

type Owner = { orgId: string; memberId: string };

/** The sidebar lists all of them. */
const maxViews = 20;

export async function listViews(sql: Sql, { orgId, memberId }: Owner): Promise<SavedView[]> {
  return await sql<SavedView[]>`
    select id, name, filters
    from saved_views
    where org_id = ${orgId} and member_id = ${memberId}
    order by lower(name) collate "C", id`;
}

type NewView = Omit<SavedView, 'id'>;

export async function saveView(
  db: Db,
  { orgId, memberId }: Owner,
  { name, filters }: NewView,
): Promise<SavedView> {
  return await inTransaction(db, async (tx) => {
    // Serializes concurrent requests, because together they could exceed the limit.
    await tx`
      select from memberships where org_id = ${orgId} and member_id = ${memberId} for no key update`;
    const { count } = one(
      await tx<{ count: number }[]>`
        select count(*)::int as count from saved_views where org_id = ${orgId} and member_id = ${memberId}`,
    );
    if (count >= maxViews) {
      throw new Refusal('invalid', `a member has at most ${maxViews} views: delete one first`, {
        code: 'too_many_views',
      });
    }
    return one(
      await tx<SavedView[]>`
        insert into saved_views (org_id, member_id, name, filters)
        values (${orgId}, ${memberId}, ${name}, ${json(tx, filters)})
        returning id, name, filters`,
    );
  }).catch((error: unknown) => {
    if (!violates(error, 'saved_views_one_per_name')) throw error;
    throw new Refusal('conflict', `you already have a view named ${name}`, { code: 'name_taken' });
  });
}

export async function deleteView(
  sql: Sql,
  { orgId, memberId }: Owner,
  id: string,
): Promise<SavedView> {
  const [view] = await sql<SavedView[]>`
    delete from saved_views
    where org_id = ${orgId} and member_id = ${memberId} and id = ${id}
    returning id, name, filters`;
  return orNotFound(view, 'view');
}

/** Erasures call this, because a view may search for the address. */
export async function deleteViewsMentioning(
  sql: Sql,
  orgId: string,
  { key, before }: { key: string; before: Date | null },
) {
  await sql`
    delete from saved_views
    where org_id = ${orgId} and created_at < coalesce(${before}::timestamptz, 'infinity')
      and concat_ws(' ', name, filters::text) ~* ${addressPattern(key)}`;
}

/** Counts beyond this are shown as a minimum. */
export const maxCounted = 100;

export type ViewCounts = { detractors: number; mine: number; held: number };

/** Counts of the built-in views that have a suitable index. */
export async function countViews(sql: Sql, { orgId, memberId }: Owner): Promise<ViewCounts> {
  return one(
    await sql<ViewCounts[]>`
      select (select count(*)::int from (
                select from responses
                where org_id = ${orgId} and held_reason is null and state = 'open' and category = 'detractor'
                limit ${maxCounted}) open) as detractors,
             (select count(*)::int from (
                select from responses
                where org_id = ${orgId} and held_reason is null and owner_id = ${memberId}
                limit ${maxCounted}) mine) as mine,
             (select count(*)::int from (
                select from responses
                where org_id = ${orgId} and held_reason is not null
                limit ${maxCounted}) held) as held`,
  );
}
