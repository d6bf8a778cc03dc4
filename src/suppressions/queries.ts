import type { Sql } from '../lib/db/db.ts';
import { newest, type Page, pagedJson } from '../lib/paging/page.ts';
import type { OrgId } from '../limits.ts';
import type { TextsByLanguage } from '../surveys/texts.ts';
import type { SuppressionQuery } from './api.ts';

export type Subscriber = {
  org_id: string;
  email: string;
  language: string;
  texts: TextsByLanguage;
  wished_language: unknown;
  organization: string;
  color: string;
  logo: string | null;
  unsubscribed: boolean;
  mail_traceparent: string | null;
};

/** The contact of a personal link, and whether its address gets surveys of the organization. */
export async function findSubscriber(sql: Sql, token: string) {
  const [subscriber] = await sql<Subscriber[]>`
    -- all organizations
    select c.org_id, c.email, v.language, v.texts, c.properties -> 'language' as wished_language, o.name as organization, o.color, o.logo,
           exists (select from suppressions s
                   where s.org_id = c.org_id and s.email = c.email_key
                     and s.kind = 'unsubscribed') as unsubscribed,
           (select traceparent from mails
            where contact_id = c.id and org_id = c.org_id
            order by claimed_at desc limit 1) as mail_traceparent
    from contacts c
    join surveys v on v.org_id = c.org_id and v.id = c.survey_id
    join organizations o on o.id = c.org_id
    where c.token = ${token}`;
  return subscriber;
}

/** An invented contact of a survey, for the links of its test mails. */
export async function findTestSubscriber(sql: Sql, shareId: string) {
  const [subscriber] = await sql<Subscriber[]>`
    -- all organizations
    select v.org_id, 'reader@example.com' as email, v.language, v.texts, null as wished_language,
           o.name as organization, o.color, o.logo, false as unsubscribed, null as mail_traceparent
    from surveys v
    join organizations o on o.id = v.org_id
    where v.share_id = ${shareId}`;
  return subscriber;
}

export type NewSuppression = {
  email: string;
  kind: 'unsubscribed' | 'bounced';
  detail?: string | null;
  /** Now if left out. */
  created_at?: Date | null;
};

/** Returns those that are new. */
export async function insertSuppressions(
  sql: Sql,
  orgId: string,
  suppressions: readonly NewSuppression[],
) {
  return await sql<{ email: string; kind: NewSuppression['kind']; detail: string | null }[]>`
    insert into suppressions (org_id, email, kind, detail, created_at)
    select ${orgId}, email, kind, detail, coalesce(created_at, now())
    from json_to_recordset(${JSON.stringify(suppressions)}::text::json)
      as s (email text, kind text, detail text, created_at timestamptz)
    order by email
    on conflict do nothing
    returning email, kind, detail`;
}

/** Deletes suppressions of one kind, or the one with an id, and returns the address that was freed. */
export async function deleteSuppression(
  sql: Sql,
  orgId: string,
  which: { id: string } | { unsubscribed: string },
) {
  const condition =
    'id' in which
      ? sql`id = ${which.id}`
      : sql`email = ${which.unsubscribed} and kind = 'unsubscribed'`;
  const [freed] = await sql<{ email: string }[]>`
    delete from suppressions where org_id = ${orgId} and ${condition} returning email`;
  return freed?.email;
}

export async function listKinds(sql: Sql, orgId: string, email: string) {
  const rows = await sql<{ kind: 'unsubscribed' | 'bounced' }[]>`
    select kind from suppressions where org_id = ${orgId} and email = ${email}`;
  return rows.map(({ kind }) => kind);
}

export function listSuppressions(
  sql: Sql,
  orgId: OrgId,
  { email, kind, ...page }: SuppressionQuery & Page,
) {
  const rows = sql`suppressions
    where org_id = ${orgId}
      ${email === undefined ? sql`` : sql`and email = ${email}`}
      ${kind === undefined ? sql`` : sql`and kind = ${kind}`}`;
  return pagedJson(sql, {
    picked: newest(sql, { rows }, page),
    item: sql`
      cross join lateral (
        select p.id, p.email, p.kind, p.detail, iso(p.created_at) as created_at
      ) item`,
    total: sql`select count(*) from ${rows}`,
    page,
  });
}

/** The address that these mails of the organization went to, if it is the same for all of them. */
export async function findMailedTo(sql: Sql, orgId: string, ids: readonly string[]) {
  const found = await sql<{ email: string }[]>`
    select distinct email_key as email
    from mails
    where org_id = ${orgId} and id = any (${[...ids]}::uuid[]) and status in ('sending', 'sent', 'unknown')`;
  return found.length === 1 ? found[0] : undefined;
}

export async function deleteSuppressionsOf(
  sql: Sql,
  orgId: string,
  { key, before }: { key: string; before: Date | null },
): Promise<number> {
  const { count } = await sql`
    delete from suppressions
    where org_id = ${orgId} and email = ${key}
      and created_at < coalesce(${before}::timestamptz, 'infinity')`;
  return count;
}
