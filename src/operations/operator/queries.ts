import { one, type Part, type Sql } from '../../lib/db/db.ts';

export type OperatedOrganization = {
  id: string;
  name: string;
  slug: string;
  members: number;
  owners: number;
  surveys: number;
  mails_this_month: number;
  monthly_send_limit: number;
  created_at: Date;
};

const organizationFields = (sql: Sql) => sql`
  o.id, o.name, o.slug, o.monthly_send_limit, o.created_at,
  (select count(*)::int from memberships where org_id = o.id) as members,
  (select count(*)::int from memberships where org_id = o.id and role = 'owner') as owners,
  (select count(*)::int from surveys where org_id = o.id) as surveys,
  coalesce((select used from mail_usage
            where org_id = o.id and month = date_trunc('month', now() at time zone 'UTC')::date), 0)
    as mails_this_month`;

export async function pageOfOrganizations(
  sql: Sql,
  { page, limit }: { page: number; limit: number },
): Promise<OperatedOrganization[]> {
  return await sql<OperatedOrganization[]>`
    select ${organizationFields(sql)}
    from (
      select * from organizations
      order by created_at desc, id desc
      limit ${limit} offset ${(page - 1) * limit}
    ) o
    order by o.created_at desc, o.id desc`;
}

export async function countOrganizations(sql: Sql) {
  return one(await sql<{ count: number }[]>`select count(*)::int as count from organizations`)
    .count;
}

export async function findOperated(sql: Sql, id: string) {
  const [row] = await sql<OperatedOrganization[]>`
    select ${organizationFields(sql)} from organizations o where o.id = ${id}`;
  return row;
}

const maxDeletions = 50;

export async function listDeletions(sql: Sql) {
  return await sql<{ name: string; surveys: number; responses: number; actor: string; at: Date }[]>`
    -- all organizations
    select details ->> 'name' as name, (details ->> 'surveys')::int as surveys,
           (details ->> 'responses')::int as responses, actor, at
    from audit_events
    where org_id is null and act = 'organization.deleted'
    order by at desc
    limit ${maxDeletions}`;
}

export type WaitingTask = { task: string; waiting: number; oldest_seconds: number };

/** Due jobs, comments and webhook deliveries that nobody has claimed, by task, oldest first. */
export async function listWaitingTasks(sql: Sql) {
  return await sql<WaitingTask[]>`
    -- all organizations
    select task, sum(waiting)::int as waiting, greatest(max(oldest), 0)::int as oldest_seconds
    from (
      select t.identifier as task, count(*) as waiting,
             extract(epoch from now() - min(j.run_at)) as oldest
      from graphile_worker._private_jobs j
      join graphile_worker._private_tasks t on t.id = j.task_id
      where j.is_available and j.run_at <= now()
      group by t.identifier
      union all
      select 'summaries.analyze', count(*), extract(epoch from now() - min(due_at))
      from waiting_analyses
      where claimed_by is null and due_at <= now()
      having count(*) > 0
      union all
      select 'webhooks.deliver', count(*), extract(epoch from now() - min(due_at))
      from (
        select case when attempts = 0 then time_of(id) else next_attempt_at end as due_at
        from pending_deliveries
        where claimed_by is null
      ) unclaimed
      where due_at <= now()
      having count(*) > 0
    ) due
    group by task
    order by oldest_seconds desc, task`;
}

/** `byFiveMinutes` counts the last hour in steps of five minutes, by age from 0 to 11. */
export type Outcome = { status: string; count: number; byFiveMinutes: Record<string, number> };

/** Most frequent status first. */
async function countOutcomes(sql: Sql, rows: Part) {
  return await sql<Outcome[]>`
    select status, sum(n)::int as count, json_object_agg(age, n) as "byFiveMinutes"
    from (
      select status, least(floor(extract(epoch from now() - time_of(id)) / 300), 11)::int as age, count(*)::int as n
      from (${rows}) recent
      group by status, age
    ) counted
    group by status
    order by count desc, status`;
}

/** Deliveries of all organizations in the last hour. */
export const countDeliveryOutcomes = (sql: Sql) =>
  countOutcomes(
    sql,
    sql`
      -- all organizations
      select d.id, d.status
      from webhooks w
      cross join lateral (
        select id, status
        from deliveries
        where webhook_id = w.id and id > least_id_at(now() - interval '1 hour')
      ) d`,
  );

/** Keeps the page fast while a large campaign is sent. */
const maxCountedMails = 100_000;

/** Survey emails created in the last hour, of all organizations. */
export const countMailOutcomes = (sql: Sql) =>
  countOutcomes(
    sql,
    sql`
      -- all organizations
      select id, status
      from mails
      where id > least_id_at(now() - interval '1 hour')
      limit ${maxCountedMails}`,
  );

/** Jobs that failed in every attempt and are not tried again. */
export async function countFailedJobs(sql: Sql): Promise<number> {
  return one(
    await sql<{ count: number }[]>`
      select count(*)::int as count
      from graphile_worker._private_jobs
      where attempts >= max_attempts and locked_at is null`,
  ).count;
}

/** Times of the two newest backups that `askback backup` made. */
export async function listBackups(sql: Sql): Promise<Date[]> {
  const rows = await sql<{ at: Date }[]>`
    -- all organizations
    select at
    from audit_events
    where org_id is null and act = 'deployment.backed_up'
    order by at desc
    limit 2`;
  return rows.map(({ at }) => at);
}

export async function findDatabaseFacts(sql: Sql) {
  return one(
    await sql<{ version: string; bytes: number; connections: number; maxConnections: number }[]>`
      select split_part(current_setting('server_version'), ' ', 1) as version,
             pg_database_size(current_database())::float8 as bytes,
             (select count(*)::int from pg_stat_activity where backend_type = 'client backend') as connections,
             current_setting('max_connections')::int as "maxConnections"`,
  );
}

export async function listOrganizationNames(sql: Sql, ids: readonly string[]) {
  return await sql<{ id: string; name: string }[]>`
    select id, name from organizations where id = any(${[...ids]}::uuid[])`;
}

export async function listProcesses(sql: Sql) {
  return await sql<{ program: string; started_at: Date }[]>`
    select coalesce(program, 'askback') as program, started_at
    from worker_pools
    where pool_id like 'lease-%'
    order by started_at desc`;
}

export async function listOperators(sql: Sql) {
  return await sql<{ id: string; name: string; email: string; has_second_step: boolean }[]>`
    select id, name, email, totp_since is not null as has_second_step
    from members
    where is_operator
    order by email_key`;
}
