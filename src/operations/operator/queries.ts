import type { Sql } from '../../lib/db/db.ts';

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

/** Organizations newest first, without their surveys and responses. */
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

export async function countOrganizations(sql: Sql): Promise<number> {
  const [row] = await sql<{ count: number }[]>`select count(*)::int as count from organizations`;
  return row?.count ?? 0;
}

export async function findOperated(
  sql: Sql,
  id: string,
): Promise<OperatedOrganization | undefined> {
  const [row] = await sql<OperatedOrganization[]>`
    select ${organizationFields(sql)} from organizations o where o.id = ${id}`;
  return row;
}

type Deletion = { name: string; surveys: number; responses: number; actor: string; at: Date };

const maxDeletions = 50;

/** Receipts of deleted organizations, newest first. */
export async function listDeletions(sql: Sql): Promise<Deletion[]> {
  return await sql<Deletion[]>`
    -- all organizations
    select details ->> 'name' as name, (details ->> 'surveys')::int as surveys,
           (details ->> 'responses')::int as responses, actor, at
    from audit_events
    where org_id is null and act = 'organization.deleted'
    order by at desc
    limit ${maxDeletions}`;
}

type WaitingTask = { task: string; waiting: number; oldest_seconds: number };

/** Due jobs and waiting comments by task, oldest first. */
export async function listWaitingTasks(sql: Sql): Promise<WaitingTask[]> {
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
    ) due
    group by task
    order by oldest_seconds desc, task`;
}

type DeliveryOutcome = { status: string; deliveries: number };

/** Deliveries of all organizations in the last hour by status, most frequent first. */
export async function countOutcomes(sql: Sql): Promise<DeliveryOutcome[]> {
  return await sql<DeliveryOutcome[]>`
    -- all organizations
    select d.status, count(*)::int as deliveries
    from webhooks w
    cross join lateral (
      select status
      from deliveries
      where webhook_id = w.id and id > least_id_at(now() - interval '1 hour')
    ) d
    group by d.status
    order by deliveries desc, d.status`;
}

type ServingProcess = { program: string; started_at: Date };

export async function listProcesses(sql: Sql): Promise<ServingProcess[]> {
  return await sql<ServingProcess[]>`
    select coalesce(program, 'askback') as program, started_at
    from worker_pools
    where pool_id like 'lease-%'
    order by started_at desc`;
}

type Operator = { id: string; name: string; email: string; has_second_step: boolean };

export async function listOperators(sql: Sql): Promise<Operator[]> {
  return await sql<Operator[]>`
    select id, name, email, totp_since is not null as has_second_step
    from members
    where is_operator
    order by email_key`;
}
