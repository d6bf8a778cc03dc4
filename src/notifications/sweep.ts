import { enqueue, type JobPayloads } from '../jobs.ts';
import { type Db, inTransaction, type Part, type Sql } from '../lib/db/db.ts';
import { deleteRows } from '../lib/db/delete-in-batches.ts';
import { nearLimitPercent } from '../limits.ts';
import { offManually } from '../webhooks/rules.ts';

type SweepTools = { db: Db };

/** Runs on a schedule, so that recording a response never waits for notifications. */
export async function sweepNotifications({ db }: SweepTools) {
  await insertAndEnqueue(db, insertEvents);
}

/** Creates due digests, in the time zone of the member or organization. */
export async function sweepDigests({ db }: SweepTools, now = new Date()) {
  await insertAndEnqueue(db, (tx) => insertDigests(tx, now));
}

export async function notifyAssigned(
  { db }: SweepTools,
  { org_id, member_id, response_id }: JobPayloads['notifications.assigned'],
) {
  await insertAndEnqueue(
    db,
    (tx) => tx<NewNotification[]>`
      with inserted as (
        insert into notifications (org_id, member_id, kind, subject)
        select n.org_id, n.member_id, 'assigned', r.id::text
        from notification_choices n
        join responses r on r.org_id = n.org_id and r.owner_id = n.member_id
        where n.org_id = ${org_id} and n.member_id = ${member_id} and r.id = ${response_id}
          and 'assigned' = any(n.events)
        on conflict do nothing
        returning org_id, member_id, id as notification_id
      )
      select * from inserted`,
  );
}

/** Without a member, a post to the organization's webhook. */
type NewNotification = { org_id: string; member_id: string | null; notification_id: string };

/** Enqueues the job of each new notification in the transaction that inserts it. */
const insertAndEnqueue = (db: Db, insert: (tx: Sql) => Promise<readonly NewNotification[]>) =>
  inTransaction(db, async (tx) => {
    const rows = await insert(tx);
    await enqueue(
      tx,
      rows.map(({ member_id, ...payload }) => ({
        task: member_id ? 'notifications.mail' : 'notifications.post',
        payload,
      })),
    );
  });

/** Keeps rows longer than a month, because they prevent a second notification about the month's limit. */
export const cleanUpNotifications = ({ db }: SweepTools) =>
  deleteRows(db, 'notifications', db`created_at < now() - interval '100 days'`);

const allChoices = (sql: Sql) => sql`
  -- all organizations
  select org_id, member_id, events, digest, time_zone, changed_at
  from notification_choices
  union all
  select h.org_id, null, h.events, h.digest, o.time_zone, h.changed_at
  from slack_hooks h
  join organizations o on o.id = h.org_id`;

/** Keeps notifications from flooding a mailbox. */
const maxAnswersPerHour = 30;

/**
 * Inserts a notification for each wanted event of the last hour, at most one per event. Skips events that are more than
 * a minute older than the choices. The minute covers events that the previous sweep has not seen.
 */
async function insertEvents(sql: Sql) {
  const events = [
    answers(sql, 'detractor', sql`r.held_reason is null and r.category = 'detractor'`),
    answers(sql, 'held', sql`r.held_reason is not null`),
    webhooksOff(sql),
    limits(sql),
    finishedCampaigns(sql),
    pausedCampaigns(sql),
  ].reduce((all, each) => sql`${all} union all ${each}`);
  return await sql<NewNotification[]>`
    with choices as (
      select org_id, member_id, events,
             greatest(changed_at - interval '1 minute', now() - interval '1 hour') as since
      from (${allChoices(sql)}) choice
      where events <> '{}'
    ), inserted as (
      insert into notifications (org_id, member_id, kind, subject)
      ${events}
      on conflict do nothing
      returning org_id, member_id, id as notification_id
    )
    select * from inserted`;
}

/** Imported responses are old, so they cause no notifications. */
const answers = (sql: Sql, kind: 'detractor' | 'held', condition: Part) => sql`
  select w.org_id, w.member_id, ${kind}::text, r.subject
  from choices w
  cross join lateral (
    select count(*)::int as sent
    from notifications n
    where n.org_id = w.org_id and n.member_id is not distinct from w.member_id and n.kind = ${kind}
      and n.created_at > now() - interval '1 hour'
  ) lately
  cross join lateral (
    select r.id::text as subject
    from responses r
    where r.org_id = w.org_id and r.created_at >= w.since and r.source <> 'import' and ${condition}
      and not exists (
        select from notifications n
        where n.org_id = w.org_id and n.member_id is not distinct from w.member_id and n.kind = ${kind}
          and n.subject = r.id::text
      )
    order by r.created_at
    limit greatest(${maxAnswersPerHour} - lately.sent, 0)
  ) r
  where ${kind} = any(w.events)`;

const webhooksOff = (sql: Sql) => sql`
  select w.org_id, w.member_id, 'webhook_off', concat(h.id, ' ', extract(epoch from h.deactivated_at))
  from choices w
  join webhooks h on h.org_id = w.org_id
  where 'webhook_off' = any(w.events) and not h.active and h.deactivated_reason <> ${offManually}
    and h.deactivated_at >= w.since`;

const limits = (sql: Sql) => sql`
  select w.org_id, w.member_id, reached.kind, u.month::text
  from choices w
  join organizations o on o.id = w.org_id
  join mail_usage u on u.org_id = o.id and u.month = date_trunc('month', now() at time zone 'UTC')::date
  cross join lateral (
    select case when u.used >= o.monthly_send_limit then 'limit_reached' else 'limit_near' end as kind
    where u.used > 0 and u.used >= ${nearLimitPercent / 100}::float8 * o.monthly_send_limit
  ) reached
  where reached.kind = any(w.events)`;

const finishedCampaigns = (sql: Sql) => sql`
  select w.org_id, w.member_id, 'campaign_finished', c.id::text
  from choices w
  join campaigns c on c.org_id = w.org_id
  where 'campaign_finished' = any(w.events) and c.kind = 'campaign' and c.status = 'finished'
    and c.finished_at >= w.since`;

/** Notifies once per outage: skips other campaigns while a campaign that caused a notification is paused. */
const pausedCampaigns = (sql: Sql) => sql`
  select w.org_id, w.member_id, 'campaign_paused', c.subject
  from choices w
  cross join lateral (
    select concat(id, ' ', turn) as subject
    from campaigns
    where org_id = w.org_id and status = 'paused' and reason is not null
    order by created_at
    limit 1
  ) c
  where 'campaign_paused' = any(w.events)
    and not exists (
      select from campaigns p
      join notifications n on n.org_id = p.org_id and n.subject = concat(p.id, ' ', p.turn)
      where p.org_id = w.org_id and p.status = 'paused' and n.kind = 'campaign_paused'
        and n.member_id is not distinct from w.member_id
    )`;

/**
 * Digests are due from 9:00 to 15:00 on the day or on Monday, so that a digest chosen in the evening starts the next
 * day. Time zones that Postgres does not know are skipped, because they would fail the whole statement.
 */
async function insertDigests(sql: Sql, now: Date) {
  return await sql<NewNotification[]>`
    with inserted as (
      insert into notifications (org_id, member_id, kind, subject)
      select n.org_id, n.member_id, 'digest', concat(n.digest, ' ', here.today::date)
      from (${allChoices(sql)}) n
      cross join lateral (
        select case
                 when lower(n.time_zone) in (select lower(name) from pg_timezone_names)
                 then date_trunc(case n.digest when 'week' then 'week' else 'day' end,
                                 ${now}::timestamptz at time zone n.time_zone)
               end as today
      ) here
      cross join lateral (
        select (here.today + interval '9 hours') at time zone n.time_zone as morning
      ) due
      where n.digest <> 'none' and ${now} >= due.morning and ${now} < due.morning + interval '6 hours'
        and n.changed_at < due.morning
      on conflict do nothing
      returning org_id, member_id, id as notification_id
    )
    select * from inserted`;
}
