import { one, type Part, type Sql, whenDiskFull } from '../lib/db/db.ts';
import { deleteRows } from '../lib/db/delete-in-batches.ts';
import { isTroubled } from '../webhooks/queries.ts';

export type SignedInMember = {
  id: string;
  name: string;
  email: string;
  isOperator: boolean;
  sessionId: string;
  /** Time when the member last proved who they are, for example with the password. */
  provedAt: Date;
};

export type CurrentOrganization = {
  id: string;
  name: string;
  slug: string;
  color: string;
  timeZone: string;
  role: 'viewer' | 'editor' | 'owner';
  openDetractors: number;
  failingWebhooks: number;
};

export type OtherOrganization = { name: string; slug: string; color: string };

type SessionRow = SignedInMember & {
  organization: CurrentOrganization | null;
  otherOrganizations: OtherOrganization[];
};

/**
 * Finds a live session and records its use. Returns its member, the organization with this current or former slug,
 * and the member's other organizations.
 */
export async function findSession(sql: Sql, tokenHash: Buffer, slug = '') {
  const noteUse = sql`
    update sessions
    set used_at = now()
    where id = (select "sessionId" from live) and used_at < now() - interval '1 minute'`;
  const select = (noted: Part) => selectSession(sql, { tokenHash, slug, noted });
  const [row] = await select(noteUse).catch(whenDiskFull(() => select(sql`select`)));
  if (!row) return undefined;
  const { organization, otherOrganizations, ...member } = row;
  return { member, organization, otherOrganizations };
}

type SessionPlace = { tokenHash: Buffer; slug: string; noted: Part };

const selectSession = async (sql: Sql, { tokenHash, slug, noted }: SessionPlace) =>
  await sql<SessionRow[]>`
    -- all organizations
    with live as materialized (
      select m.id, m.name, m.email, m.is_operator as "isOperator", s.id as "sessionId", s.proved_at as "provedAt"
      from sessions s
      join members m on m.id = s.member_id
      where s.token_hash = ${tokenHash} and not s.awaits_code and ${isLive(sql, 's.')}
    ), used as (${noted}), own as (
      select o.id, o.name, o.slug, o.color, o.time_zone, m.role,
             o.slug = ${slug} or (
               o.id is not distinct from (select org_id from former_slugs where slug = ${slug})
               and not exists (select from organizations where slug = ${slug})
             ) as is_current
      from live
      join memberships m on m.member_id = live.id
      join organizations o on o.id = m.org_id
    )
    select live.*,
           (select json_build_object('id', id, 'name', name, 'slug', slug, 'color', color, 'timeZone', time_zone, 'role', role,
                                      ${navigationCounts(sql)})
            from own where is_current) as organization,
           (select coalesce(json_agg(json_build_object('name', name, 'slug', slug, 'color', color)
                                     order by lower(name), slug), '[]'::json)
            from own where not is_current) as "otherOrganizations"
    from live`;

/** A session ends this long after the last use, or after it began. */
const maxIdleDays = 30;
export const maxSessionDays = 90;

const isLive = (sql: Sql, alias = '') => sql`
  ${sql(`${alias}used_at`)} > now() - make_interval(days => ${maxIdleDays}::int)
  and ${sql(`${alias}created_at`)} > now() - make_interval(days => ${maxSessionDays}::int)`;

type NewSession = {
  token_hash: Buffer;
  member_id: string;
  awaits_code: boolean;
  user_agent: string | null;
  address: string | null;
};

export async function insertSession(sql: Sql, row: NewSession): Promise<string> {
  return one(await sql<{ id: string }[]>`insert into sessions ${sql(row)} returning id`).id;
}

/** Finds a session that waits for a code, for at most ten minutes. */
export async function findAwaitingCode(sql: Sql, tokenHash: Buffer) {
  const [row] = await sql<{ memberId: string; sessionId: string }[]>`
    select member_id as "memberId", id as "sessionId"
    from sessions
    where token_hash = ${tokenHash} and awaits_code and created_at > now() - interval '10 minutes'`;
  return row;
}

export async function renewProof(sql: Sql, sessionId: string) {
  await sql`update sessions set proved_at = now() where id = ${sessionId}`;
}

export async function deleteSessionOf(sql: Sql, tokenHash: Buffer) {
  const [row] = await sql<{ memberId: string }[]>`
    delete from sessions where token_hash = ${tokenHash} returning member_id as "memberId"`;
  return row;
}

/** Deletes the session `id`, or all `except` one, or all. */
export async function deleteSessions(
  sql: Sql,
  memberId: string,
  { id = null, except = null }: { id?: string | null; except?: string | null } = {},
): Promise<number> {
  const { count } = await sql`
    delete from sessions
    where member_id = ${memberId} and (${id}::uuid is null or id = ${id})
      and (${except}::uuid is null or id <> ${except})`;
  return count;
}

export type ListedSession = {
  id: string;
  user_agent: string | null;
  address: string | null;
  used_at: Date;
  created_at: Date;
};

export async function listSessions(sql: Sql, memberId: string): Promise<ListedSession[]> {
  return await sql<ListedSession[]>`
    select id, user_agent, address, used_at, created_at
    from sessions s
    where member_id = ${memberId} and not awaits_code and ${isLive(sql)}
    order by used_at desc, id desc`;
}

export const deleteOldSessions = (sql: Sql) =>
  deleteRows(
    sql,
    'sessions',
    sql`not (${isLive(sql)}) or (awaits_code and created_at < now() - interval '1 hour')`,
  );

/** Caps the count, because every page runs this query. */
const maxOpenCounted = 100;

/** Badge counts as JSON fields: open detractors of the last 30 days, and failing webhooks. */
const navigationCounts = (sql: Sql) => sql`
  'openDetractors', (
    select count(*)
    from (
      select from responses r
      where r.org_id = own.id and r.held_reason is null and r.state = 'open' and r.category = 'detractor'
        and r.created_at > now() - interval '30 days'
      limit ${maxOpenCounted}
    ) open
  ), 'failingWebhooks', (
    select count(*)
    from webhooks
    where org_id = own.id and ${isTroubled(sql)}
  )`;
