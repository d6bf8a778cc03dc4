-- Hours of days that are over, for readers whose days begin at another hour than those of UTC. They are counted after
-- the day, from its responses, and only where these are many: an answer writes nothing for them. Whatever changes the
-- tally of a day takes its hours away, until they are counted again.

-- How many responses of each day came before each of its hours but the first: promoters, passives and detractors in
-- turn. Of a survey, or of all.
create function hours_of_days(in_org uuid, in_survey uuid, days date[]) returns table (day date, by_hour integer[])
language sql stable
begin atomic
  with counted as (
    select (created_at at time zone 'UTC')::date as day, extract(hour from created_at at time zone 'UTC') as hour,
           category, count(*) as n
    from responses
    where org_id = in_org and (in_survey is null or survey_id = in_survey) and held_reason is null
      and created_at >= (select min(d)::timestamp at time zone 'UTC' from unnest(days) d)
      and created_at < (select (max(d) + 1)::timestamp at time zone 'UTC' from unnest(days) d)
    group by 1, 2, 3
  ), added as (
    select d.day, h.hour, c.place,
           sum(coalesce(counted.n, 0)) over (
             partition by d.day, c.place order by h.hour rows between unbounded preceding and 1 preceding
           ) as n
    from unnest(days) d (day)
    cross join generate_series(0, 23) h (hour)
    cross join (values ('promoter', 1), ('passive', 2), ('detractor', 3)) c (category, place)
    left join counted on counted.day = d.day and counted.hour = h.hour and counted.category = c.category
  )
  select added.day, array_agg(added.n::integer order by added.hour, added.place)
  from added
  where added.hour > 0
  group by added.day;
end;

create index day_tallies_without_hours on day_tallies (survey_id, day)
  where by_hour is null and slot = 0 and promoters + passives + detractors >= 24;
create index organization_day_tallies_without_hours on organization_day_tallies (org_id, day)
  where by_hour is null and slot = 0 and promoters + passives + detractors >= 24;

-- A writer of a day waits for its row, or writes another slot, which its readers see: the hours are of what the row
-- says. The rows are counted in a statement after the one that locks, which sees what was written until then.
create procedure tally_hours()
language plpgsql
as $$
declare
  today constant date := (now() at time zone 'UTC')::date;
  owner record;
  locked date[];
begin
  for owner in
    select distinct org_id, survey_id from day_tallies
    where by_hour is null and slot = 0 and promoters + passives + detractors >= 24 and day < today
  loop
    perform from surveys where id = owner.survey_id for key share skip locked;
    continue when not found;

    locked := array(
      select day from day_tallies
      where survey_id = owner.survey_id
        and by_hour is null and slot = 0 and promoters + passives + detractors >= 24 and day < today
      order by day
      for update skip locked
    );
    update day_tallies t
    set by_hour = hours.by_hour
    from hours_of_days(owner.org_id, owner.survey_id, locked) hours
    where t.survey_id = owner.survey_id and t.slot = 0 and t.day = hours.day;
    commit;
  end loop;

  for owner in
    select distinct org_id from organization_day_tallies
    where by_hour is null and slot = 0 and promoters + passives + detractors >= 24 and day < today
  loop
    perform from organizations where id = owner.org_id for key share skip locked;
    continue when not found;

    locked := array(
      select day from organization_day_tallies
      where org_id = owner.org_id
        and by_hour is null and slot = 0 and promoters + passives + detractors >= 24 and day < today
      order by day
      for update skip locked
    );
    update organization_day_tallies t
    set by_hour = hours.by_hour
    from hours_of_days(owner.org_id, null, locked) hours
    where t.org_id = owner.org_id and t.slot = 0 and t.day = hours.day;
    commit;
  end loop;
end
$$;
