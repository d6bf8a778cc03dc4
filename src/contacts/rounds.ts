import { one, type Part, type Sql } from '../lib/db/db.ts';
import type { OrgSurvey } from '../surveys/queries.ts';
import { insertPeople } from './queries.ts';

/**
 * Time when the current round asked contact `c`, or null. An email that failed or bounced counts, so that
 * the contact is not asked before the next round. Retention may have deleted that email.
 */
export const askedAt = (sql: Sql): Part => sql`
  coalesce(c.sent_at, c.responded_at,
           case when c.status in ('failed', 'bounced', 'unsubscribed') then
             (select max(coalesce(m.finished_at, m.claimed_at)) from mails m
              where m.org_id = c.org_id and m.contact_id = c.id and m.reminder = 0) end,
           case when c.status = 'failed' then c.updated_at end)`;

/** The time zone of the rounds of survey `s`: the zone of its send window, or else of organization `o`. */
export const zoneOfRounds = (sql: Sql): Part =>
  sql`coalesce(s.send_window ->> 'time_zone', o.time_zone)`;

/**
 * True if the next round of contact `c` is due: `every_days` of survey `s` have passed since it was asked. Local times
 * keep the hour through daylight saving.
 */
export const isDue = (sql: Sql, at: Date | null): Part => sql`
  (s.repeat is not null and not c.superseded and c.status <> 'sending'
   and ((${askedAt(sql)} at time zone ${zoneOfRounds(sql)}) + make_interval(days => (s.repeat ->> 'every_days')::int))
         at time zone ${zoneOfRounds(sql)} <= coalesce(${at}::timestamptz, now()))`;

/**
 * Adds a contact in the next round for each address whose next round is due, and returns these contacts. They get the
 * latest name and properties of the person. The survey must be locked. The lateral join looks up contacts one by one.
 * Locks follow the order of sending.
 */
export async function startRounds(
  sql: Sql,
  { orgId, surveyId }: OrgSurvey,
  { keys, at = null }: { keys: readonly string[]; at?: Date | null },
) {
  if (keys.length === 0) return [];
  const ended = await sql<{ key: string }[]>`
    with due as materialized (
      select c.id
      from unnest(${[...keys]}::text[]) as given (key)
      join people p on p.org_id = ${orgId} and p.email_key = given.key
      join surveys s on s.org_id = ${orgId} and s.id = ${surveyId}
      join organizations o on o.id = ${orgId}
      cross join lateral (
        select * from contacts
        where org_id = ${orgId} and survey_id = ${surveyId} and email_key = given.key and not superseded
        limit 1
      ) c
      where ${isDue(sql, at)}
    ), held as materialized (
      select l.id
      from due
      join contacts l on l.id = due.id
      where l.org_id = ${orgId} and l.survey_id = ${surveyId}
      order by l.email_key, l.id
      for no key update of l
    )
    update contacts c
    set superseded = true
    from held
    where c.org_id = ${orgId} and c.id = held.id and not c.superseded
    returning c.email_key as key`;
  const endedKeys = ended.map(({ key }) => key);
  const people = sql`people p where p.org_id = ${orgId} and p.email_key = any (${endedKeys}::text[])`;
  return await insertPeople(sql, { orgId, surveyId }, { people });
}

/** Counts the contacts that a later round of their address has replaced. The query reads only an index. */
export async function countEndedRounds(sql: Sql, { orgId, surveyId }: OrgSurvey): Promise<number> {
  return one(
    await sql<{ count: number }[]>`
      select count(*)::int as count
      from contacts
      where org_id = ${orgId} and survey_id = ${surveyId} and superseded`,
  ).count;
}
