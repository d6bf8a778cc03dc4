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

-- A writer of a day waits for its row, or writes another slot, which its readers see: the hours are of what the row
-- says. The rows are counted in a statement after the one that locks, which sees what was written until then.
create procedure tally_half_hours()
language plpgsql
as $$
declare
  today constant date := (now() at time zone 'UTC')::date;
  owner record;
  locked date[];
begin
  for owner in
    select distinct org_id, survey_id from day_tallies
    where by_half_hour is null and slot = 0 and has_hours and day < today
  loop
    perform from surveys where id = owner.survey_id for key share skip locked;
    continue when not found;

    locked := array(
      select day from day_tallies
      where survey_id = owner.survey_id
        and by_half_hour is null and slot = 0 and has_hours and day < today
      order by day
      for update skip locked
    );
    update day_tallies t
    set by_half_hour = counted.by_half_hour
    from half_hours_of_days(owner.org_id, owner.survey_id, locked) counted
    where t.survey_id = owner.survey_id and t.slot = 0 and t.day = counted.day;
    commit;
  end loop;

  for owner in
    select distinct org_id from organization_day_tallies
    where by_half_hour is null and slot = 0 and has_hours and day < today
    union
    select distinct org_id from facet_changes where day < today
  loop
    locked := array[date '-infinity'];
    loop
      perform from organizations where id = owner.org_id for key share skip locked;
      exit when not found;

      locked := array(
        select day from organization_day_tallies t
        where org_id = owner.org_id and slot = 0 and day < today and day > locked[cardinality(locked)]
          and ((by_half_hour is null and has_hours)
            or exists (select from facet_changes c where c.org_id = owner.org_id and c.day = t.day))
        order by day
        limit 50
        for update skip locked
      );
      exit when cardinality(locked) = 0;
      update organization_day_tallies t
      set by_half_hour = counted.by_half_hour
      from half_hours_of_days(owner.org_id, null, locked) counted
      where t.org_id = owner.org_id and t.slot = 0 and t.day = counted.day
        and t.by_half_hour is null and t.has_hours;
      call tally_facets(owner.org_id, locked);
      commit;
    end loop;
    commit;
  end loop;
end
$$;
