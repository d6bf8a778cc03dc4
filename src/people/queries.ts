import { one, opaque, type Sql } from '../lib/db/db.ts';

export type PersonRow = {
  /** Of one of its contacts: an address does not belong into an address of a page. */
  id: string;
  email: string;
  name: string | null;
  surveys: number;
  last_asked_at: Date | null;
  last_answered_at: Date | null;
  suppressed: boolean;
};

export type PeoplePage = { pattern: string | null; page: number; limit: number };

/** A page of the people of an organization, each at its newest contact, newest first. */
export async function listPeople(sql: Sql, orgId: string, { pattern, page, limit }: PeoplePage) {
  return await sql<PersonRow[]>`
    with newest as (
      select c.id, c.email, c.email_key, c.name, c.created_at
      from contacts c
      where c.org_id = ${orgId} ${isLike(sql, pattern)}
        and not exists (
          select from contacts later
          where later.org_id = ${orgId} and later.email_key = c.email_key
            and (later.created_at, later.id) > (c.created_at, c.id)
        )
      order by c.created_at desc, c.id desc
      limit ${limit}::int offset ${opaque(sql, sql`${(page - 1) * limit}::bigint`)}
    )
    select n.id, n.email, n.name, of.*,
           exists (select from suppressions s where s.org_id = ${orgId} and s.email = n.email_key) as suppressed
    from newest n
    cross join lateral (
      select count(*)::int as surveys, max(sent_at) as last_asked_at, max(responded_at) as last_answered_at
      from contacts c
      where c.org_id = ${orgId} and c.email_key = n.email_key
    ) of
    order by n.created_at desc, n.id desc`;
}

/** Addresses, not contacts. */
export async function countPeople(sql: Sql, orgId: string, pattern: string | null) {
  const { count } = one(
    await sql<{ count: number }[]>`
      select count(*)::int as count
      from (select distinct c.email_key from contacts c where c.org_id = ${orgId} ${isLike(sql, pattern)}) people`,
  );
  return count;
}

/** The part that has the trigram index, and that the address itself is like the pattern, not the name. */
const isLike = (sql: Sql, pattern: string | null) =>
  pattern === null
    ? sql``
    : sql`and c.email || ' ' || coalesce(c.name, '') ilike ${pattern}
          and (c.email ilike ${pattern} or c.name ilike ${pattern})`;

export type FoundPerson = {
  email: string;
  name: string | null;
  suppressions: { id: string; kind: 'unsubscribed' | 'bounced' }[];
};

/** A person by the id of one of its contacts. */
export async function findPerson(sql: Sql, orgId: string, id: string) {
  const [person] = await sql<FoundPerson[]>`
    select c.email, c.name,
           (select coalesce(json_agg(json_build_object('id', s.id, 'kind', s.kind) order by s.kind), '[]')
            from suppressions s
            where s.org_id = ${orgId} and s.email = c.email_key) as suppressions
    from contacts c
    where c.org_id = ${orgId} and c.id = ${id}`;
  return person;
}
