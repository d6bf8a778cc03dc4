-- Kept figures of facets, so that what has a property or a tag is counted by day, however many responses have it. As
-- half hours are, they are counted after the day and only where these are many: an answer writes nothing for them.
--
-- The figures of a day, and the sets of 0045_facet_days.sql, are read only where its half hours are kept, which any
-- change of its responses takes away, and where no row of `facet_changes` says that facets alone have changed. Such a
-- row commits together with the change: a count that does not see the one does not see the other either, and leaves the
-- row for the next count. So nothing waits, and what is read is exact at every moment.

create table facet_day_tallies (
  org_id       uuid not null references organizations (id) on delete cascade,
  facet        bigint not null,
  survey_id    uuid,
  day          date not null,
  type         text not null,
  employees    boolean not null,
  promoters    integer not null,
  passives     integer not null,
  detractors   integer not null,
  score_sum    integer not null,
  by_half_hour integer[] not null,

  constraint facet_day_tallies_once unique nulls not distinct (org_id, facet, survey_id, day, type, employees)
    include (promoters, passives, detractors, score_sum)
);

comment on table facet_day_tallies is
  'Totals of the responses of a day that have a facet, where these are many: of each kind of surveys, and of surveys with many';
comment on column facet_day_tallies.facet is 'as in response_facets';
comment on column facet_day_tallies.survey_id is 'null: of all surveys of the kind, those with a row of their own included';
comment on column facet_day_tallies.day is 'of created_at, UTC';
comment on column facet_day_tallies.type is 'of the surveys';
comment on column facet_day_tallies.employees is 'whether the surveys ask employees';
comment on column facet_day_tallies.promoters is 'responses that count as promoter';
comment on column facet_day_tallies.passives is 'responses that count as passive';
comment on column facet_day_tallies.detractors is 'responses that count as detractor';
comment on column facet_day_tallies.score_sum is 'sum of the scores of all these';
comment on column facet_day_tallies.by_half_hour is
  'how many of them came before each half hour but the first: promoters, passives and detractors in turn';

create index facet_day_tallies_by_day on facet_day_tallies (org_id, day);

create table facet_changes (
  org_id uuid not null references organizations (id) on delete cascade,
  day    date not null
);

comment on table facet_changes is
  'Facets of responses of this day have changed since, or while, they were counted: the kept figures of the day are not read';
comment on column facet_changes.day is 'of created_at of the responses, UTC';

create index facet_changes_by_day on facet_changes (org_id, day);

-- The kept figures go with what they were counted from: what is erased leaves none. Figures that another transaction
-- takes away are passed over.
create function change_facet_days(in_org uuid, days date[]) returns void
language sql
begin atomic
  insert into facet_changes (org_id, day)
  select o.id, d.day
  from organizations o
  cross join (select distinct day from unnest(days) u (day) where day is not null) d
  where o.id = in_org;

  with figures as (
    select ctid as place
    from facet_day_tallies
    where org_id = in_org and day = any (days)
    order by day, facet, survey_id, type, employees
    for update skip locked
  )
  delete from facet_day_tallies using figures where ctid = figures.place and org_id = in_org;

  with sets as (
    select ctid as place from facet_day_bits where org_id = in_org and day = any (days) order by day, facet for update skip locked
  )
  delete from facet_day_bits using sets where ctid = sets.place and org_id = in_org;

  with orders as (
    select ctid as place from facet_days where org_id = in_org and day = any (days) order by day for update skip locked
  )
  delete from facet_days using orders where ctid = orders.place and org_id = in_org;
end;

create function facet_removed_responses() returns trigger
language plpgsql
as $$
begin
  perform change_facet_days(org_id, array_agg(distinct utc_day(created_at)))
  from changed
  where held_reason is null
  group by org_id;
  return null;
end
$$;

create trigger responses_removed_facets after delete on responses
  referencing old table as changed for each statement execute function facet_removed_responses();

-- What the facets of these days come to, as far as it is kept: at least 24 responses of a day, as half hours.
create function facet_tallies_of_days(in_org uuid, days date[]) returns setof facet_day_tallies
language sql stable
set work_mem = '64MB' -- with little it is joined in an order that takes ten times as long
set jit = off
begin atomic
  with faceted as (
    select f.facet, f.survey_id, d as day, s.type, s.audience is not distinct from 'employee' as employees,
           half_hour_of(f.created_at) as half, f.category, f.score
    from unnest(days) d
    cross join lateral (
      select id
      from responses
      where org_id = in_org and held_reason is null
        and created_at >= d::timestamp at time zone 'UTC' and created_at < (d + 1)::timestamp at time zone 'UTC'
      offset 0 -- those of these days, and never all of the organization
    ) r
    cross join lateral (
      select facet, survey_id, created_at, category, score
      from response_facets
      where org_id = in_org and response_id = r.id
      offset 0
    ) f
    join surveys s on s.org_id = in_org and s.id = f.survey_id
  ), many as (
    select facet, day from faceted group by facet, day having count(*) >= 24
  ), halves as (
    select grouping(survey_id) as of_kind, facet, survey_id, day, type, employees, half,
           count(*) filter (where category = 'promoter') as promoters,
           count(*) filter (where category = 'passive') as passives,
           count(*) filter (where category = 'detractor') as detractors,
           sum(score) as score_sum
    from faceted
    join many using (facet, day)
    group by grouping sets ((facet, day, type, employees, half), (facet, day, type, employees, half, survey_id))
  ), rows as (
    select row_number() over () as row, facet, survey_id, day, type, employees,
           sum(promoters) as promoters, sum(passives) as passives, sum(detractors) as detractors,
           sum(score_sum) as score_sum
    from halves
    group by of_kind, facet, survey_id, day, type, employees
    having of_kind = 1 or sum(promoters + passives + detractors) >= 24
  ), counted as (
    select row, half, place,
           sum(n) over (partition by row, place order by half rows between unbounded preceding and 1 preceding) as n
    from (
      select r.row, g.half, p.place,
             case p.place when 1 then h.promoters when 2 then h.passives else h.detractors end as n
      from rows r
      cross join generate_series(0, 47) g (half)
      cross join generate_series(1, 3) p (place)
      left join halves h
        on (h.facet, h.day, h.type, h.employees, h.half) = (r.facet, r.day, r.type, r.employees, g.half)
        and h.survey_id is not distinct from r.survey_id
    ) each
  ), arrays as (
    select row, array_agg(coalesce(n, 0)::integer order by half, place) as by_half_hour
    from counted
    where half > 0
    group by row
  )
  select in_org, r.facet, r.survey_id, r.day, r.type, r.employees, r.promoters::integer, r.passives::integer,
         r.detractors::integer, r.score_sum::integer, a.by_half_hour
  from rows r
  join arrays a using (row);
end;

-- Counts the facets of days that the caller has locked, and takes away the changes that the count sees. A day stays as
-- it is while another transaction takes its figures away: to wait for that one, which may wait for the caller's lock,
-- would be to wait in a circle.
create procedure tally_facets(in_org uuid, days date[])
language plpgsql
as $$
declare
  free constant date[] := array(
    select day
    from unnest(days) d (day)
    where (select count(*) from facet_day_tallies t where t.org_id = in_org and t.day = d.day)
      = (select count(*)
         from (select from facet_day_tallies t where t.org_id = in_org and t.day = d.day for update skip locked) held)
      and (select count(*) from facet_day_bits t where t.org_id = in_org and t.day = d.day)
      = (select count(*)
         from (select from facet_day_bits t where t.org_id = in_org and t.day = d.day for update skip locked) held)
      and (select count(*) from facet_days t where t.org_id = in_org and t.day = d.day)
      = (select count(*)
         from (select from facet_days t where t.org_id = in_org and t.day = d.day for update skip locked) held)
  );
begin
  delete from facet_day_tallies where org_id = in_org and day = any (free);
  delete from facet_day_bits where org_id = in_org and day = any (free);
  delete from facet_days where org_id = in_org and day = any (free);
  with seen as (
    delete from facet_changes where org_id = in_org and day = any (free)
  ), ordered as (
    insert into facet_days
    select * from facet_days_of(in_org, free)
  ), sets as (
    insert into facet_day_bits
    select * from facet_bits_of(in_org, free)
  )
  insert into facet_day_tallies
  select * from facet_tallies_of_days(in_org, free);
end
$$;
