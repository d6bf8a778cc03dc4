import type { Sql } from '../lib/db/db.ts';
import { contents, type StoredNotification } from './facts.queries.ts';
import type { Digest, NotificationKind } from './rules.ts';

export type SlackHook = { url: Buffer; events: NotificationKind[]; digest: Digest };

export async function findSlackHook(sql: Sql, orgId: string) {
  const [hook] = await sql<SlackHook[]>`
    select url, events, digest from slack_hooks where org_id = ${orgId}`;
  return hook;
}

/** Without an address it keeps the one it has; nothing comes back when there is none. */
export async function saveSlackHook(
  sql: Sql,
  orgId: string,
  { url, events, digest }: Omit<SlackHook, 'url'> & { url: Buffer | null },
) {
  const [saved] = url
    ? await sql`
        insert into slack_hooks (org_id, url, events, digest)
        values (${orgId}, ${url}, ${[...events]}, ${digest})
        on conflict (org_id) do update
          set url = excluded.url, events = excluded.events, digest = excluded.digest, changed_at = now()
        returning org_id`
    : await sql`
        update slack_hooks
        set events = ${[...events]}, digest = ${digest}, changed_at = now()
        where org_id = ${orgId}
        returning org_id`;
  return saved !== undefined;
}

export async function deleteSlackHook(sql: Sql, orgId: string): Promise<boolean> {
  const { count } = await sql`delete from slack_hooks where org_id = ${orgId}`;
  return count > 0;
}

export type SlackClaim = Omit<StoredNotification, 'member_id' | 'email' | 'member'> & {
  url: Buffer;
};

/** Marks it as posted. Nothing comes back when it was posted before, is a day late, or is not wanted any more. */
export async function claimPost(sql: Sql, orgId: string, id: string) {
  const [claimed] = await sql<SlackClaim[]>`
    update notifications n
    set sent_at = now()
    from slack_hooks h, organizations o
    where n.org_id = ${orgId} and n.id = ${id} and n.member_id is null and n.sent_at is null
      and n.created_at > now() - interval '1 day'
      and h.org_id = n.org_id
      and case n.kind when 'digest' then h.digest <> 'none' else n.kind = any(h.events) end and o.id = n.org_id
    returning n.org_id, n.kind, n.subject, o.name as organization, o.slug, o.time_zone, h.url, ${contents(sql)}`;
  return claimed;
}

type SealedHook = { org_id: string; url: Buffer };

export const listHooksOfOtherKey = async (sql: Sql, keyId: Buffer) =>
  await sql<SealedHook[]>`
    -- all organizations
    select org_id, url from slack_hooks where substring(url from 1 for 4) <> ${keyId}`;

/** Unless it was changed meanwhile. */
export async function replaceHook(sql: Sql, { org_id, url }: SealedHook, resealed: Buffer) {
  await sql`update slack_hooks set url = ${resealed} where org_id = ${org_id} and url = ${url}`;
}
