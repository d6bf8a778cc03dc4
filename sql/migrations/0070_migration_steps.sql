-- Steps of migrations: work over filled tables, which the service does by and by after it has started.

create table migration_steps (
  name           text primary key,
  sha256         text not null,
  unit           text not null,
  added_at       timestamptz not null default now(),
  started_at     timestamptz,
  worker         text,
  last_key       jsonb,
  batches        bigint not null default 0,
  rows_done      bigint not null default 0,
  rows_estimated bigint,
  progressed_at  timestamptz,
  failures       integer not null default 0,
  failure        text,
  retry_at       timestamptz,
  ended_at       timestamptz
);

comment on table migration_steps is
  'What a migration leaves to be done over filled tables while the service serves, and how far it is';
comment on column migration_steps.name is 'its file in sql/steps, without the ending';
comment on column migration_steps.sha256 is 'of its text: a step with another text begins again, unless it has ended';
comment on column migration_steps.unit is 'what its rows are: days, indexes, constraints';
comment on column migration_steps.added_at is 'when the migration left it';
comment on column migration_steps.started_at is 'when its first batch began';
comment on column migration_steps.worker is 'version, machine and process that worked on it last';
comment on column migration_steps.last_key is 'where its last batch ended; the next one begins after it';
comment on column migration_steps.batches is 'how many batches have committed';
comment on column migration_steps.rows_done is 'rows of all these batches';
comment on column migration_steps.rows_estimated is 'how many rows there were when it began; null: not known';
comment on column migration_steps.progressed_at is 'when the last batch committed';
comment on column migration_steps.failures is 'failed tries since the last batch that committed';
comment on column migration_steps.failure is 'why the last try failed, without what rows contain';
comment on column migration_steps.retry_at is 'when it is tried again after a failure';
comment on column migration_steps.ended_at is 'when it ended; null: it has not';

-- For statements that need what a step makes: until it has ended they do without. Before the migration that leaves the
-- step it has not ended.
create function migration_step_ended(step text) returns boolean
language sql stable
return exists (select from migration_steps where name = step and ended_at is not null);

-- Kept figures of days that were over before the migration, in batches: the next days after a key, and where they end.
-- A day that another transaction holds is passed over, as it is by tally_half_hours, which counts it in the next hour.
-- The rows are counted in a statement after the one that locks, which sees what was written until then.

create function tally_survey_days_after(after jsonb, most integer, out last_key jsonb, out rows bigint)
language plpgsql
as $$
declare
  today constant date := (now() at time zone 'UTC')::date;
  next record;
  locked date[];
begin
  rows := 0;
  for next in
    select org_id, survey_id, array_agg(day order by day) as days
    from (
      select org_id, survey_id, day
      from day_tallies
      where by_half_hour is null and slot = 0 and has_hours and day < today
        and (survey_id, day)
          > (coalesce((after ->> 0)::uuid, '00000000-0000-0000-0000-000000000000'), coalesce((after ->> 1)::date, '-infinity'))
      order by survey_id, day
      limit most
    ) batch
    group by org_id, survey_id
    order by survey_id
  loop
    last_key := jsonb_build_array(next.survey_id, next.days[cardinality(next.days)]);
    rows := rows + cardinality(next.days);
    perform from surveys where id = next.survey_id for key share skip locked;
    continue when not found;

    locked := array(
      select day from day_tallies
      where survey_id = next.survey_id and day = any (next.days)
        and by_half_hour is null and slot = 0 and has_hours
      order by day
      for update skip locked
    );
    update day_tallies t
    set by_half_hour = counted.by_half_hour
    from half_hours_of_days(next.org_id, next.survey_id, locked) counted
    where t.survey_id = next.survey_id and t.slot = 0 and t.day = counted.day;
  end loop;
end
$$;

create function tally_organization_days_after(after jsonb, most integer, out last_key jsonb, out rows bigint)
language plpgsql
as $$
declare
  today constant date := (now() at time zone 'UTC')::date;
  after_org constant uuid := coalesce((after ->> 0)::uuid, '00000000-0000-0000-0000-000000000000');
  after_day constant date := coalesce((after ->> 1)::date, '-infinity');
  next record;
  locked date[];
begin
  rows := 0;
  for next in
    select org_id, array_agg(day order by day) as days
    from (
      (
        select org_id, day
        from organization_day_tallies
        where by_half_hour is null and slot = 0 and has_hours and day < today
          and (org_id, day) > (after_org, after_day)
        order by org_id, day
        limit most
      )
      union
      (
        select distinct org_id, day
        from facet_changes
        where day < today and (org_id, day) > (after_org, after_day)
        order by org_id, day
        limit most
      )
      order by org_id, day
      limit most
    ) batch
    group by org_id
    order by org_id
  loop
    last_key := jsonb_build_array(next.org_id, next.days[cardinality(next.days)]);
    rows := rows + cardinality(next.days);
    perform from organizations where id = next.org_id for key share skip locked;
    continue when not found;

    locked := array(
      select day from organization_day_tallies
      where org_id = next.org_id and day = any (next.days) and slot = 0
      order by day
      for update skip locked
    );
    update organization_day_tallies t
    set by_half_hour = counted.by_half_hour
    from half_hours_of_days(next.org_id, null, locked) counted
    where t.org_id = next.org_id and t.slot = 0 and t.day = counted.day
      and t.by_half_hour is null and t.has_hours;
    call tally_facets(next.org_id, locked);
  end loop;
end
$$;
