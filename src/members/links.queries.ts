import { one, type Sql } from '../lib/db/db.ts';
import type { Role } from '../sessions/session.ts';

export type LinkKind = 'welcome' | 'invitation' | 'reset';

export type NewLink = {
  tokenHash: Buffer;
  kind: LinkKind;
  email?: string;
  memberId?: string;
  orgId?: string | null;
  role?: Role | null;
  isOperator?: boolean;
  /** Whether it goes to the address alone, so that using it proves the address. */
  provesEmail?: boolean;
};

/** How long a link works. */
const validFor = { welcome: '24 hours', invitation: '7 days', reset: '1 hour' } as const;

export async function insertLink(sql: Sql, link: NewLink): Promise<string> {
  return one(
    await sql<{ id: string }[]>`
      insert into member_links (token_hash, kind, email, member_id, org_id, role, is_operator, proves_email,
                                expires_at)
      values (${link.tokenHash}, ${link.kind}, ${link.email ?? null}, ${link.memberId ?? null},
              ${link.orgId ?? null}, ${link.role ?? null}, ${link.isOperator ?? false},
              ${link.provesEmail ?? false}, now() + ${validFor[link.kind]}::interval)
      returning id`,
  ).id;
}

export type LiveLink = {
  id: string;
  email: string | null;
  memberId: string | null;
  orgId: string | null;
  organization: string | null;
  role: Role | null;
  isOperator: boolean;
  provesEmail: boolean;
};

const isLive = (sql: Sql) => sql`used_at is null and expires_at > now()`;

const linkFields = (sql: Sql) => sql`
  l.id, l.email, l.member_id as "memberId", l.org_id as "orgId", l.role, l.is_operator as "isOperator",
  l.proves_email as "provesEmail",
  (select name from organizations where id = l.org_id) as organization`;

/** What a link leads to, as long as it works. */
export async function findLink(
  sql: Sql,
  kind: LinkKind,
  tokenHash: Buffer,
): Promise<LiveLink | undefined> {
  const [link] = await sql<LiveLink[]>`
    -- all organizations
    select ${linkFields(sql)}
    from member_links l
    where token_hash = ${tokenHash} and kind = ${kind} and ${isLive(sql)}`;
  return link;
}

/** An invitation by its id, as long as it works. */
export async function findInvitedLink(sql: Sql, id: string): Promise<LiveLink | undefined> {
  const [link] = await sql<LiveLink[]>`
    -- all organizations
    select ${linkFields(sql)}
    from member_links l
    where id = ${id} and kind = 'invitation' and ${isLive(sql)}`;
  return link;
}

/** What a link leads to, and from then on the link works no more: of two requests with it one gets it. */
export async function takeLink(
  sql: Sql,
  kind: LinkKind,
  tokenHash: Buffer,
): Promise<LiveLink | undefined> {
  const [link] = await sql<LiveLink[]>`
    -- all organizations
    update member_links l
    set used_at = now()
    where token_hash = ${tokenHash} and kind = ${kind} and ${isLive(sql)}
    returning ${linkFields(sql)}`;
  return link;
}

/** Takes all invitations of an address that has proved to be the person's own. */
export async function takeInvitationsOf(sql: Sql, email: string): Promise<LiveLink[]> {
  return await sql<LiveLink[]>`
    -- all organizations
    update member_links l
    set used_at = now()
    where kind = 'invitation' and lower(email) = lower(${email}) and ${isLive(sql)}
    returning ${linkFields(sql)}`;
}

/** Ends the welcome links of before; whether there is no member yet, so that this one is made. */
export async function replaceWelcomeLink(sql: Sql, tokenHash: Buffer): Promise<boolean> {
  const made = await sql`
    -- all organizations
    with ended as (
      delete from member_links where kind = 'welcome'
    )
    insert into member_links (token_hash, kind, expires_at)
    select ${tokenHash}, 'welcome', now() + ${validFor.welcome}::interval
    where not exists (select from members)
    returning id`;
  return made.length > 0;
}

/** Links for a new password end with the first that is used. */
export async function deleteResetLinks(sql: Sql, memberId: string) {
  await sql`
    -- all organizations
    delete from member_links where kind = 'reset' and member_id = ${memberId}`;
}

/** How many links for a new password a member could use now. */
export async function countResetLinks(sql: Sql, memberId: string): Promise<number> {
  return one(
    await sql<{ count: number }[]>`
      -- all organizations
      select count(*)::int as count
      from member_links
      where kind = 'reset' and member_id = ${memberId} and ${isLive(sql)}`,
  ).count;
}

/** A new invitation of an address to the same place ends the one before. */
export async function deleteInvitations(sql: Sql, orgId: string | null, email: string) {
  await sql`
    delete from member_links
    where kind = 'invitation' and used_at is null and lower(email) = lower(${email})
      and org_id is not distinct from ${orgId}::uuid`;
}

export type PendingInvitation = {
  id: string;
  email: string;
  role: Role;
  expires_at: Date;
  created_at: Date;
};

/** Invitations to an organization that are not accepted yet, newest first. */
export async function listInvitations(sql: Sql, orgId: string): Promise<PendingInvitation[]> {
  return await sql<PendingInvitation[]>`
    select id, email, role, expires_at, created_at
    from member_links
    where org_id = ${orgId} and kind = 'invitation' and ${isLive(sql)}
    order by created_at desc, id desc`;
}

export async function findInvitation(
  sql: Sql,
  orgId: string,
  id: string,
): Promise<PendingInvitation | undefined> {
  const [row] = await sql<PendingInvitation[]>`
    select id, email, role, expires_at, created_at
    from member_links
    where org_id = ${orgId} and id = ${id} and kind = 'invitation' and ${isLive(sql)}`;
  return row;
}

export async function deleteInvitation(sql: Sql, orgId: string, id: string): Promise<boolean> {
  const { count } = await sql`
    delete from member_links
    where org_id = ${orgId} and id = ${id} and kind = 'invitation' and used_at is null`;
  return count > 0;
}

/** A link that ended is kept for a month, as a trace of what was made. */
export async function deleteOldLinks(sql: Sql, limit: number): Promise<number> {
  const { count } = await sql`
    -- all organizations
    delete from member_links
    where token_hash in (
      select token_hash
      from member_links
      where expires_at < now() - interval '30 days'
      limit ${limit}
      for update skip locked
    )`;
  return count;
}
