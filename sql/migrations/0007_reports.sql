-- Views for reporting tools. A reporter is a Postgres role that only sees its organization's rows in these views.
-- Columns are only added, because ops/reports.md is a contract like the API.

create table reporters (
  role_name  text primary key,
  org_id     uuid not null,
  name       text not null check (char_length(name) between 1 and 200),
  created_at timestamptz not null default now(),

  constraint reporters_one_per_name unique (name),
  constraint reporters_belong_to_organization foreign key (org_id) references organizations (id) on delete cascade
);

create index reporters_by_organization on reporters (org_id);

comment on table reporters is 'A role of Postgres that reads the views of askback_reports for one organization';
comment on column reporters.role_name is 'name of the role, without a meaning because every role can see it';
comment on column reporters.name is 'purpose of the reporter, unique in the deployment';

create schema askback_reports;
comment on schema askback_reports is 'Views for reporting tools, with the rows of the connected role''s organization';

-- Uses the session's role, because a session can change its current role.
create function askback_reports.own_organization() returns uuid
  language sql stable security definer set search_path = pg_catalog, pg_temp
  as $$ select org_id from public.reporters where role_name = session_user $$;
comment on function askback_reports.own_organization() is 'the organization of the connected role';

-- `offset 0` keeps a reader's conditions outside of the view. Inside it, their estimates would use statistics of the
-- whole table, and EXPLAIN would reveal how common a value is in other organizations.
create view askback_reports.surveys with (security_barrier) as
  select s.id, s.name, s.question_text, s.type, s.audience, s.status, s.language, s.from_name, s.from_email,
         s.created_at, s.updated_at, s.completed_at
  from surveys s
  where s.org_id = (select askback_reports.own_organization())
  offset 0;

create view askback_reports.contacts with (security_barrier) as
  select c.id, c.survey_id, c.email, c.name, c.properties, c.status, c.failure_reason,
         c.sent_at, c.responded_at, c.created_at, c.updated_at, c.round
  from contacts c
  where c.org_id = (select askback_reports.own_organization())
  offset 0;

create view askback_reports.people with (security_barrier) as
  select p.id, p.email, p.name, p.properties, p.language, p.created_at, p.updated_at
  from people p
  where p.org_id = (select askback_reports.own_organization())
  offset 0;

create view askback_reports.responses with (security_barrier) as
  select r.id, r.survey_id, s.name as survey_name, s.type as survey_type, r.contact_id,
         c.email as contact_email, c.name as contact_name,
         r.properties,
         r.score, r.category, r.comment, r.language, r.source, r.held_reason is not null as held,
         a.sentiment as ai_sentiment, coalesce(a.themes, '{}') as ai_themes,
         a.churn_risk as ai_churn_risk, a.summary as ai_summary, r.created_at, r.round
  from responses r
  join surveys s on s.org_id = r.org_id and s.id = r.survey_id
  left join contacts c on c.org_id = r.org_id and c.id = r.contact_id
  left join analyses a on a.org_id = r.org_id and a.response_id = r.id
  where r.org_id = (select askback_reports.own_organization())
  offset 0;

create view askback_reports.answers with (security_barrier) as
  select a.response_id, r.survey_id, q ->> 'id' as question_id, q ->> 'text' as question, q ->> 'kind' as kind,
         given -> 'value' as value, answer_cell(q, given) as answer, given ->> 'other' as other,
         r.category, r.held_reason is not null as held, r.created_at, a.saved_at
  from response_answers a
  join responses r on r.org_id = a.org_id and r.id = a.response_id
  join surveys s on s.org_id = r.org_id and s.id = r.survey_id
  cross join lateral jsonb_array_elements(s.questions) q
  cross join lateral (select a.answers -> (q ->> 'id') as given) answer
  where a.org_id = (select askback_reports.own_organization()) and given is not null
  offset 0;

create view askback_reports.mails with (security_barrier) as
  select m.id, m.survey_id, m.contact_id, m.email, m.status, m.reason, m.reason_code, m.reminder, m.attempts,
         m.claimed_at as created_at, m.finished_at, m.round
  from mails m
  where m.org_id = (select askback_reports.own_organization())
  offset 0;

create view askback_reports.deliveries with (security_barrier) as
  select d.id, d.webhook_id, d.message_id, d.event, d.status, d.attempts, d.status_code, d.is_replay,
         d.created_at, d.delivered_at, d.next_attempt_at
  from deliveries d
  where d.org_id = (select askback_reports.own_organization())
  offset 0;

create view askback_reports.nps_by_day with (security_barrier) as
  select day, survey_id, survey_type, responses, promoters, passives, detractors,
         round(100.0 * (promoters - detractors) / nullif(responses, 0))::integer as nps,
         nps_low, least(100, greatest(round(center + half, 1), nps_low + 0.1)) as nps_high
  from (
    select (t.hour at time zone 'UTC')::date as day, t.survey_id, s.type as survey_type,
           sum(t.promoters + t.passives + t.detractors)::integer as responses,
           sum(t.promoters)::integer  as promoters,
           sum(t.passives)::integer   as passives,
           sum(t.detractors)::integer as detractors
    from hour_tallies t
    join surveys s on s.org_id = t.org_id and s.id = t.survey_id
    where t.org_id = (select askback_reports.own_organization())
    group by 1, t.survey_id, s.type
  ) counted
  -- The adjusted Wald interval, as in src/intervals.ts.
  cross join lateral (
    select (promoters + 0.75) / (responses + 3) as p, (detractors + 0.75) / (responses + 3) as d
  ) shares
  cross join lateral (
    select 100 * (p - d) as center, 196 * sqrt((p + d - (p - d) ^ 2) / (responses + 3)) as half
  ) estimate
  cross join lateral (select greatest(-100, least(round(center - half, 1), 99.9)) as nps_low) low
  where responses > 0
  offset 0;

create view askback_reports.campaigns with (security_barrier) as
  select c.id, c.survey_id, c.name, c.status, c.send_at, c.per_hour, c.total, c.duplicates, c.invalid, c.reason,
         c.created_at, c.started_at, c.finished_at
  from campaigns c
  where c.org_id = (select askback_reports.own_organization()) and c.kind = 'campaign'
  offset 0;

-- Functions of Postgres that every role may call and that do more than read: locks that others wait for, and large
-- objects, which can be written even in read-only transactions.
create function public.harmful_functions() returns setof regprocedure
  language sql stable set search_path = pg_catalog, pg_temp
  as $$
    select p.oid::regprocedure
    from pg_proc p
    where p.pronamespace = 'pg_catalog'::regnamespace
      and p.proname ~ '^(pg_(try_)?advisory_|lo_|lowrite$)'
      and exists (
        select
        from aclexplode(coalesce(p.proacl, acldefault('f', p.proowner)))
        where grantee = 0 and privilege_type = 'EXECUTE'
      )
  $$;

-- Only the owner of these functions, a superuser, can revoke them from everybody. The role of the embedded Postgres is
-- a superuser.
create function forbid_harmful_functions() returns void
  language plpgsql set search_path = pg_catalog, pg_temp
  as $$
declare
  harmful regprocedure;
begin
  for harmful in
    select f
    from public.harmful_functions() f
    join pg_proc p on p.oid = f
    where pg_has_role(p.proowner, 'usage')
  loop
    -- The service owns the tables and needs some of these functions, even if another role has called this.
    execute format('grant execute on function %s to %I, %I', harmful, current_user,
      (select pg_get_userbyid(relowner) from pg_class where oid = 'public.reporters'::regclass));
    execute format('revoke execute on function %s from public', harmful);
  end loop;
end $$;

-- Creates a role that connects and reads the views. Settings that the role can change itself, such as the time limit,
-- only protect honest tools. Its access does not depend on them.
create function create_reporter_role(role text, password text) returns void
  language plpgsql set search_path = pg_catalog, pg_temp
  as $$
begin
  execute format('create role %I login noinherit connection limit 5 password %L', role, password);
  execute format('alter role %I set default_transaction_read_only = on', role);
  execute format('alter role %I set statement_timeout = %L', role, '60s');
  execute format('alter role %I set idle_in_transaction_session_timeout = %L', role, '60s');
  execute format('alter role %I set search_path = askback_reports', role);
  if current_setting('is_superuser')::boolean then
    execute format('alter role %I set temp_file_limit = %L', role, '1GB');
  end if;
  perform public.forbid_harmful_functions();
  execute format('grant usage on schema askback_reports to %I', role);
  execute format('grant select on all tables in schema askback_reports to %I', role);
  execute format('revoke temporary on database %I from public', current_database());
end $$;

-- Keeps a reporter from connecting, and lets the current role end the connections of the reporter. Commit this before
-- the next steps, so that leftovers of the role cannot restore its access.
create function disable_reporter_role(role text) returns void
  language plpgsql set search_path = pg_catalog, pg_temp
  as $$
begin
  execute format('alter role %I nologin password null', role);
  execute format('grant %I to %I', role, current_user);
end $$;

create function end_reporter_sessions(role text) returns void
  language sql set search_path = pg_catalog, pg_temp
  as $$ select pg_terminate_backend(pid, 5000) from pg_stat_activity where usename = role $$;

-- Each large object takes a lock, so they are deleted in batches with a transaction each.
create function delete_large_objects(role text, most integer) returns bigint
  language sql set search_path = pg_catalog, pg_temp
  as $$
    select count(lo_unlink(oid))
    from (
      select o.oid
      from pg_largeobject_metadata o
      join pg_roles r on r.oid = o.lomowner
      where r.rolname = role
      limit most
    ) own
  $$;

create function drop_reporter_role(role text) returns void
  language plpgsql set search_path = pg_catalog, pg_temp
  as $$
begin
  execute format('drop owned by %I', role);
  execute format('drop role %I', role);
end $$;

revoke execute on function create_reporter_role, disable_reporter_role, end_reporter_sessions, delete_large_objects,
  drop_reporter_role, forbid_harmful_functions from public;
