-- Half hours of days that are over, for readers whose days begin at another time than those of UTC. They are counted after
-- the day, from its responses, and only where these are many: an answer writes nothing for them. Whatever changes the
-- tally of a day takes its half hours away, until they are counted again.

-- How many responses of each day came before each of its half hours but the first: promoters, passives and detractors in
-- turn. Of a survey, or of all: each by its own index.
create function half_hour_of(at timestamptz) returns integer
language sql immutable parallel safe
return floor(extract(epoch from at - date_trunc('day', at, 'UTC')) / 1800)::integer;

create function half_hours_of_days(in_org uuid, in_survey uuid, days date[]) returns table (day date, by_half_hour integer[])
language sql stable
begin atomic
  with counted as (
    select day, half, place, sum(n) as n
    from (
      select d as day, half_hour_of(created_at) as half,
             case category when 'promoter' then 1 when 'passive' then 2 else 3 end as place, 1 as n
      from unnest(days) d
      join responses on created_at >= d::timestamp at time zone 'UTC' and created_at < (d + 1)::timestamp at time zone 'UTC'
      where in_survey is not null and org_id = in_org and survey_id = in_survey and held_reason is null
      union all
      select d, half_hour_of(created_at),
             case category when 'promoter' then 1 when 'passive' then 2 else 3 end, 1
      from unnest(days) d
      join responses on created_at >= d::timestamp at time zone 'UTC' and created_at < (d + 1)::timestamp at time zone 'UTC'
      where in_survey is null and org_id = in_org and held_reason is null
      union all
      select d, half, place, 0 from unnest(days) d, generate_series(0, 47) half, generate_series(1, 3) place
    ) each
    group by day, half, place
  ), added as (
    select day, half, place,
           sum(n) over (partition by day, place order by half rows between unbounded preceding and 1 preceding) as n
    from counted
  )
  select added.day,
         array_agg(added.n::integer order by added.half, added.place) filter (where added.half > 0)
  from added
  group by added.day;
end;

-- What finds the days without half hours are indexes that steps build (sql/steps/0070_day_index_of_surveys.sql).

-- Half hours of the next days after a key, and where they end: a batch of a step of the migration that found the table
-- filled, and of the hourly count. A writer of a day waits for its row, or writes another slot, which its readers see: the
-- hours are of what the row says. The rows are counted in a statement after the one that locks, which sees what was written
-- until then. A day that another transaction holds is passed over, until the next hour.

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

create procedure tally_half_hours()
language plpgsql
as $$
declare
  most constant integer := 50;
  after jsonb;
begin
  loop
    select last_key into after from tally_survey_days_after(after, most);
    exit when after is null;
    commit;
  end loop;
  loop
    select last_key into after from tally_organization_days_after(after, most);
    exit when after is null;
    commit;
  end loop;
end
$$;
