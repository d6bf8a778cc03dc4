import type { Sql } from '../lib/db/db.ts';
import { type Page, pagedJson } from '../lib/paging/page.ts';
import { addressPattern } from '../lib/smtp/address.ts';
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

/** Finds the contact of a personal link, and its subscription. */
export async function findSubscriber(sql: Sql, token: string) {
  const [subscriber] = await sql<Subscriber[]>`
    -- all organizations
    select c.org_id, c.email, v.language, v.texts, c.properties -> 'language' as wished_language, o.name as organization, o.color, o.logo,
           exists (select from suppressions s
                   where s.org_id = c.org_id and s.email = c.email_key
                     and s.kind = 'unsubscribed' and not s.by_hand) as unsubscribed,
           (select traceparent from mails
            where contact_id = c.id and org_id = c.org_id
            order by claimed_at desc limit 1) as mail_traceparent
    from contacts c
    join surveys v on v.org_id = c.org_id and v.id = c.survey_id
    join organizations o on o.id = c.org_id
    where c.token = ${token}`;
  return subscriber;
}

/** Example contact for the links of test emails. */
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
  by_hand?: boolean;
  detail?: string | null;
  /** Defaults to now. */
  created_at?: Date | null;
};

/** Returns the suppressions that did not exist before. */
export async function insertSuppressions(
  sql: Sql,
  orgId: string,
  suppressions: readonly NewSuppression[],
) {
  return await sql<{ email: string; kind: NewSuppression['kind']; detail: string | null }[]>`
    insert into suppressions (org_id, email, kind, by_hand, detail, created_at)
    select ${orgId}, email, kind, coalesce(by_hand, false), detail, coalesce(created_at, now())
    from json_to_recordset(${JSON.stringify(suppressions)}::text::json)
      as s (email text, kind text, by_hand boolean, detail text, created_at timestamptz)
    order by email
    on conflict do nothing
    returning email, kind, detail`;
}

export type Suppression = {
  id: string;
  email: string;
  kind: NewSuppression['kind'];
  by_hand: boolean;
};

export async function lockSuppression(
  sql: Sql,
  orgId: string,
  which: { id: string } | { unsubscribed: string },
) {
  const condition =
    'id' in which
      ? sql`id = ${which.id}`
      : sql`email = ${which.unsubscribed} and kind = 'unsubscribed' and not by_hand`;
  const [suppression] = await sql<Suppression[]>`
    select id, email, kind, by_hand from suppressions where org_id = ${orgId} and ${condition} for update`;
  return suppression;
}

/** Limits the history of unsubscribing and undoing, because anyone with the link can repeat it. */
const maxLiftedKept = 50;

/** Moves a suppression to the history that the timeline shows. */
export async function endSuppression(
  sql: Sql,
  orgId: string,
  { id, email }: Suppression,
  { lifted_by, consent }: { lifted_by: string | null; consent: string | null },
) {
  await sql`
    with ended as (
      delete from suppressions
      where org_id = ${orgId} and id = ${id}
      returning id, org_id, email, kind, by_hand, detail, created_at
    )
    insert into lifted_suppressions (id, org_id, email, kind, by_hand, detail, created_at, lifted_by, consent)
    select id, org_id, email, kind, by_hand, detail, created_at, ${lifted_by}::text, hide_erased(org_id, ${consent}::text)
    from ended`;
  await sql`
    delete from lifted_suppressions
    where org_id = ${orgId} and id in (
      select id
      from lifted_suppressions
      where org_id = ${orgId} and email = ${email} and lifted_by is null
      order by lifted_at desc
      offset ${maxLiftedKept}
    )`;
}

export async function listSuppressionKinds(sql: Sql, orgId: string, email: string) {
  const rows = await sql<{ kind: 'unsubscribed' | 'bounced' }[]>`
    select kind from suppressions where org_id = ${orgId} and email = ${email}`;
  return rows.map(({ kind }) => kind);
}

export function listSuppressions(
  sql: Sql,
  orgId: OrgId,
  { email, kind, ...page }: SuppressionQuery & Page,
) {
  return pagedJson(sql, page, {
    rows: sql`suppressions
      where org_id = ${orgId}
        ${email === undefined ? sql`` : sql`and email = ${email}`}
        ${kind === undefined ? sql`` : sql`and kind = ${kind}`}`,
    item: sql`
      cross join lateral (
        select p.id, p.email, p.kind, p.by_hand, p.detail, iso(p.created_at) as created_at
      ) item`,
  });
}

/** Returns the recipient of these emails, if all went to the same address. */
export async function findMailRecipient(sql: Sql, orgId: string, ids: readonly string[]) {
  const found = await sql<{ email: string }[]>`
    select distinct email_key as email
    from mails
    where org_id = ${orgId} and id = any (${[...ids]}::uuid[]) and status in ('sending', 'sent', 'unknown')
    union
    select c.email_key
    from replies p
    join responses r on r.org_id = p.org_id and r.id = p.response_id
    join contacts c on c.org_id = r.org_id and c.id = r.contact_id
    where p.org_id = ${orgId} and p.id = any (${[...ids]}::uuid[]) and p.status in ('sending', 'sent', 'unknown')`;
  return found.length === 1 ? found[0] : undefined;
}

export async function deleteSuppressionsOf(
  sql: Sql,
  orgId: string,
  { key, before }: { key: string; before: Date | null },
): Promise<number> {
  const ofAddress = sql`
    org_id = ${orgId} and email = ${key} and created_at < coalesce(${before}::timestamptz, 'infinity')`;
  const { count } = await sql`
    -- organization: caller
    delete from suppressions where ${ofAddress}`;
  const lifted = await sql`
    -- organization: caller
    delete from lifted_suppressions where ${ofAddress}`;
  return count + lifted.count;
}

/** Replaces an address with `[email]` in the recorded consent of other people. */
export async function hideInConsents(
  sql: Sql,
  orgId: string,
  { key, before }: { key: string; before: Date | null },
): Promise<number> {
  const { count } = await sql`
    update lifted_suppressions
    set consent = hide_address(consent, ${key})
    where org_id = ${orgId} and lifted_at < coalesce(${before}::timestamptz, 'infinity')
      and consent ~* ${addressPattern(key)}`;
  return count;
}
