import { orNotFound } from '../errors.ts';
import { exportRows, type ReplicaTools } from '../keys/read.ts';
import { likePattern, one, type Part, type Sql } from '../lib/db/db.ts';
import type { ExportColumn, ExportFormat } from '../lib/export/export.ts';
import { type Page, pagedJson } from '../lib/paging/page.ts';
import type { OrgId } from '../limits.ts';
import { savePeople } from '../people/save.ts';
import { nameOfSurvey, type OrgSurvey } from '../surveys/queries.ts';

export const listContacts = (sql: Sql, orgId: OrgId, page: Page) =>
  pagedJson(sql, page, {
    rows: sql`contacts where org_id = ${orgId}`,
    item: sql`cross join lateral (select ${itemColumns(sql, orgId)}) item`,
    total: sql`select coalesce(sum(contacts), 0) from survey_tallies where org_id = ${orgId}`,
  });

const itemColumns = (sql: Sql, orgId: OrgId) => sql`
  p.id, p.email, p.name, p.status, p.failure_reason, iso(p.sent_at) as sent_at,
  iso(p.responded_at) as responded_at, p.round, p.survey_id, ${nameOfSurvey(sql, orgId, sql`p`)}`;

export const exportContacts = (
  tools: ReplicaTools,
  orgId: string,
  { surveyId, format }: { surveyId: string | null; format: ExportFormat },
) =>
  exportRows(tools, orgId, {
    format,
    columns: exportColumns,
    rows: (sql) => sql`
      contacts where org_id = ${orgId} ${surveyId ? sql`and survey_id = ${surveyId}` : sql``}`,
    joins: (sql) => sql`left join surveys s on s.org_id = ${orgId} and s.id = p.survey_id`,
  });

const exportColumns = (sql: Sql): ExportColumn[] => [
  { name: 'id', value: sql`p.id` },
  { name: 'created_at', value: sql`iso(p.created_at)` },
  { name: 'survey_id', value: sql`p.survey_id` },
  { name: 'survey_name', value: sql`s.name`, csv: 'text' },
  { name: 'email', value: sql`p.email`, csv: 'text' },
  { name: 'name', value: sql`p.name`, csv: 'text' },
  { name: 'properties', value: sql`p.properties`, csv: 'object' },
  { name: 'status', value: sql`p.status` },
  { name: 'failure_reason', value: sql`p.failure_reason`, csv: 'text' },
  { name: 'sent_at', value: sql`iso(p.sent_at)` },
  { name: 'responded_at', value: sql`iso(p.responded_at)` },
  { name: 'round', value: sql`p.round` },
];

export const contactStatuses = [
  'pending',
  'sending',
  'sent',
  'responded',
  'failed',
  'bounced',
  'unsubscribed',
] as const;
type ContactStatus = (typeof contactStatuses)[number];

export type ContactToSave = {
  email: string;
  name: string | null;
  properties: Record<string, unknown>;
  /** `sending` marks a claimed email. Imports set `sent` and `responded`. */
  status?: 'pending' | 'sending' | 'sent' | 'responded';
  sent_at?: Date | null;
  responded_at?: Date | null;
  created_at?: Date;
};

export type SavedContact = {
  id: string;
  email: string;
  key: string;
  name: string | null;
  properties: Record<string, unknown>;
  round: number;
  status: ContactStatus;
  created_at: Date;
  token: string;
  added: boolean;
};

/**
 * Adds contacts to a survey, or updates contacts with the same address in its latest round. `contacts` must not repeat
 * an address. The survey must be locked, because a deleted address continues after its last round. A new name replaces
 * the old name, and properties are merged. Data of an older answer never replaces data of a newer answer. Contacts that
 * answered or unsubscribed keep that status. Rows are locked in the same order as in sending. The people of the
 * contacts are updated too.
 */
export async function saveContacts(
  sql: Sql,
  { orgId, surveyId }: OrgSurvey,
  contacts: readonly ContactToSave[],
) {
  if (contacts.length === 0) return [];
  const isLatest = sql`coalesce(excluded.responded_at > c.responded_at, true)`;
  const name = sql`
    case when ${isLatest} then coalesce(excluded.name, c.name) else coalesce(c.name, excluded.name) end`;
  const properties = sql`
    case when ${isLatest} then c.properties || excluded.properties else excluded.properties || c.properties end`;
  const status = sql`
    case when excluded.status = 'responded'
           or excluded.status = 'sending' and c.status not in ('responded', 'unsubscribed')
         then excluded.status else c.status end`;
  const respondedAt = sql`greatest(c.responded_at, excluded.responded_at)`;
  const saved = sql<SavedContact[]>`
    insert into contacts as c (org_id, survey_id, email, round, name, properties, token, status, sent_at, responded_at, created_at)
    select ${orgId}, ${surveyId}, email,
           ${nextRound(sql, { orgId, surveyId }, sql`lower(given.email)`)},
           name, properties, ${newToken(sql)}, coalesce(status, 'pending'), sent_at, responded_at, coalesce(created_at, now())
    from json_to_recordset(${JSON.stringify(contacts)}::text::json)
      as given (email text, name text, properties jsonb, status text, sent_at timestamptz, responded_at timestamptz,
                created_at timestamptz)
    order by lower(email)
    on conflict (survey_id, email_key) where not superseded do update
      set name = ${name}, properties = ${properties}, status = ${status}, responded_at = ${respondedAt},
          failure_reason = case when excluded.status = 'sending' then null else c.failure_reason end,
          updated_at = case when (${name}, ${properties}, ${status}, ${respondedAt})
                                 is distinct from (c.name, c.properties, c.status, c.responded_at)
                            then now() else c.updated_at end
      where c.org_id = ${orgId}
    returning id, email, email_key as key, name, properties, round, status, created_at, token, xmax = 0 as added`;
  const [contactRows] = await Promise.all([saved, savePeople(sql, orgId, contacts)]);
  return contactRows;
}

/** The round of a new contact: 1, or the round after the superseded rounds of its address. */
const nextRound = (sql: Sql, { orgId, surveyId }: OrgSurvey, key: Part) => sql`
  coalesce((select max(earlier.round) from contacts earlier
            where earlier.org_id = ${orgId} and earlier.survey_id = ${surveyId}
              and earlier.email_key = ${key} and earlier.superseded), 0) + 1`;

/** Adds people `p` who are not contacts of the survey, or whose contact is superseded, sorted by address. */
export async function insertPeople(
  sql: Sql,
  { orgId, surveyId }: OrgSurvey,
  { people, atMost = null }: { people: Part; atMost?: number | null },
) {
  return await sql<Pick<SavedContact, 'id' | 'email' | 'key'>[]>`
    insert into contacts (org_id, survey_id, email, round, name, properties, token)
    select p.org_id, ${surveyId}::uuid, p.email, ${nextRound(sql, { orgId, surveyId }, sql`p.email_key`)}, p.name,
           ${contactProperties(sql)}, ${newToken(sql)}
    from ${people}
      and not exists (
        select from contacts c
        where c.org_id = ${orgId} and c.survey_id = ${surveyId} and c.email_key = p.email_key and not c.superseded
      )
    order by p.email_key
    limit ${atMost}::integer
    returning id, email, email_key as key`;
}

/** The properties that person `p` has as a contact. */
export const contactProperties = (sql: Sql): Part => sql`
  case when p.language is null then p.properties
       else p.properties || jsonb_build_object('language', p.language) end`;

/** The secret of a contact's personal link: 182 random bits. */
const newToken = (sql: Sql): Part => sql`
  left(translate(encode(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()), 'base64'), '+/', '-_'), 32)`;

export type ContactToken = Pick<SavedContact, 'id' | 'email' | 'key' | 'token'>;

type ContactAnswer = {
  org_id: string;
  survey_id: string;
  contact_id: string | null;
  created_at: Date;
};

export const markAnswered = (sql: Sql, answer: ContactAnswer, when: Part) => sql`
  update contacts
  set status = 'responded', responded_at = ${answer.created_at}::timestamptz, updated_at = now()
  where org_id = ${answer.org_id} and survey_id = ${answer.survey_id}
    and id = ${answer.contact_id}::uuid and ${when}`;

export async function listByAddress(
  sql: Sql,
  { orgId, surveyId }: OrgSurvey,
  keys: readonly string[],
) {
  return await sql<ContactToken[]>`
    select id, email, email_key as key, token
    from contacts
    where org_id = ${orgId} and survey_id = ${surveyId} and email_key = any (${[...keys]}) and not superseded`;
}

type Addition = { key: string; properties: Record<string, unknown> };

/**
 * Lists contacts whose merged properties exceed `bytes` as Postgres writes JSON. The lateral join looks up contacts one
 * by one, so that Postgres does not read the whole survey for each batch.
 */
export async function listLargeMerges(
  sql: Sql,
  { orgId, surveyId }: OrgSurvey,
  additions: readonly Addition[],
  bytes: number,
) {
  return await sql<Addition[]>`
    select given.key, c.properties || given.properties as properties
    from json_to_recordset(${JSON.stringify(additions)}::text::json) as given (key text, properties jsonb)
    cross join lateral (
      select properties
      from contacts
      where org_id = ${orgId} and survey_id = ${surveyId} and email_key = given.key and not superseded
      limit 1
    ) c
    where octet_length((c.properties || given.properties)::text) > ${bytes}`;
}

/** Marks contacts whose mail is claimed. An old failure reason stays until the outcome. */
export async function markClaimed(
  sql: Sql,
  { orgId, surveyId }: OrgSurvey,
  ids: readonly string[],
) {
  await sql`
    update contacts c
    set status = 'sending', updated_at = now()
    from (${lockedInOrder(sql, { orgId, surveyId }, ids)}) held
    where c.org_id = ${orgId} and c.id = held.id and c.status in ('pending', 'failed')`;
}

export async function markUnclaimed(sql: Sql, survey: OrgSurvey, ids: readonly string[]) {
  await sql`
    update contacts c
    set status = case when c.failure_reason is null then 'pending' else 'failed' end, updated_at = now()
    from (${lockedInOrder(sql, survey, ids)}) held
    where c.org_id = ${survey.orgId} and c.id = held.id and c.status = 'sending'`;
}

/** Locks contacts in the order in which sending locks them. */
const lockedInOrder = (sql: Sql, { orgId, surveyId }: OrgSurvey, ids: readonly string[]) => sql`
  select l.id
  from unnest(${[...ids]}::uuid[]) as given (id)
  join contacts l on l.id = given.id
  where l.org_id = ${orgId} and l.survey_id = ${surveyId}
  order by l.email_key, l.id
  for no key update of l`;

export type SurveyContact = Omit<SavedContact, 'key' | 'properties' | 'token' | 'added'> & {
  failure_reason: string | null;
  sent_at: Date | null;
  responded_at: Date | null;
};

type SearchedPage = { page: Pick<Page, 'page' | 'limit'>; search: string };

export async function listContactsOf(
  sql: Sql,
  { orgId, surveyId }: OrgSurvey,
  { page, search }: SearchedPage,
) {
  const pattern = likePattern(search);
  const matching = sql`
    contacts
    where org_id = ${orgId} and survey_id::text = ${surveyId}
      ${search === '' ? sql`` : sql`and (email || ' ' || coalesce(name, '')) ilike ${pattern}`}`;
  const contacts = await sql<SurveyContact[]>`
    select id, email, name, round, status, failure_reason, sent_at, responded_at, created_at
    from ${matching}
    order by created_at desc, id desc
    limit ${page.limit} offset ${(page.page - 1) * page.limit}`;
  const total =
    search === ''
      ? sql`select coalesce(sum(contacts), 0)::int as total from survey_tallies
            where org_id = ${orgId} and survey_id = ${surveyId}`
      : sql`select count(*)::int as total from ${matching}`;
  return { contacts: [...contacts], total: one(await sql<{ total: number }[]>`${total}`).total };
}

export async function getContactOf(
  sql: Sql,
  orgId: string,
  { id, surveyId }: { id: string; surveyId: string },
) {
  const [contact] = await sql<{ id: string; email: string }[]>`
    select id, email
    from contacts
    where org_id = ${orgId} and survey_id = ${surveyId} and id = ${id}`;
  return orNotFound(contact, 'contact');
}

/** Marks all contacts of blocked addresses, except the ones that have answered. */
export async function markBlocked(
  sql: Sql,
  orgId: string,
  blocked: readonly { email: string; kind: 'unsubscribed' | 'bounced'; detail: string | null }[],
) {
  await sql`
    update contacts c
    set status = held.kind, failure_reason = coalesce(held.detail, c.failure_reason), updated_at = now()
    from (
      select l.id, b.kind, b.detail
      from json_to_recordset(${JSON.stringify(blocked)}::text::json) as b (email text, kind text, detail text)
      join contacts l on l.org_id = ${orgId} and l.email_key = b.email
      order by l.email_key, l.id
      for no key update of l
    ) held
    where c.org_id = ${orgId} and c.id = held.id and c.status not in ('responded', 'unsubscribed', held.kind)`;
}

/** Restores the status of contacts from the outcome of their mail. */
export async function markUnblocked(
  sql: Sql,
  { orgId, email, bounced }: { orgId: string; email: string; bounced: boolean },
) {
  await sql`
    update contacts c
    set status = case when ${bounced} then 'bounced'
                      when c.sent_at is not null then 'sent'
                      when c.failure_reason is not null then 'failed'
                      else 'pending' end,
        updated_at = now()
    from (
      select id
      from contacts
      where org_id = ${orgId} and email_key = ${email}
      order by email_key, id
      for no key update
    ) held
    where c.org_id = ${orgId} and c.id = held.id and c.status in ('unsubscribed', 'bounced')`;
}

/**
 * Updates contacts whose mail has an outcome. `outcomes` selects org_id, contact_id, status, reason and sent_at. A
 * contact that has answered or unsubscribed since keeps its status, and an unchanged status keeps its reason. Contacts
 * are locked in the order of their addresses, as when they are saved, so that posting a list while it is mailed cannot
 * deadlock.
 */
export const markOutcome = (sql: Sql, outcomes: Part) => sql`
  update contacts c
  set status = case when c.status in ('responded', 'unsubscribed') then c.status else s.status end,
      failure_reason = coalesce(s.reason, case when c.status = s.status then c.failure_reason end),
      sent_at = coalesce(c.sent_at, s.sent_at),
      updated_at = now()
  from (
    select l.org_id, l.id, s.status, s.reason, s.sent_at
    from (${outcomes}) as s (org_id, contact_id, status, reason, sent_at)
    join contacts l on l.org_id = s.org_id and l.id = s.contact_id
    order by l.email_key, l.id
    for no key update of l
  ) s
  where c.org_id = s.org_id and c.id = s.id`;

/**
 * Columns with the names and addresses to redact from a comment. They belong to organization `o`, the sender of survey
 * `s` and, unless the answer is anonymous, contact `c`.
 */
export const peopleToRedact = (sql: Sql, giver: 'contact' | 'anonymous') =>
  giver === 'contact'
    ? sql`
      array_remove(o.people || array[c.name, ${senderName(sql)}], null) as known_names,
      array_remove(array[c.email, s.from_email, s.reply_to, o.contact_email], null) as known_addresses`
    : sql`
      array_remove(o.people || ${senderName(sql)}, null) as known_names,
      array_remove(array[s.from_email, s.reply_to, o.contact_email], null) as known_addresses`;

/** The words of an organization's name, such as "Larkspur Coffee", are not personal. */
const senderName = (sql: Sql) => sql`nullif(btrim(replace(s.from_name, o.name, '')), '')`;

export type PeopleToRedact = { known_names: string[]; known_addresses: string[] };
