-- Responses that came at the same time, recorded in one call: each statement, its checks and its triggers are prepared
-- once for all of them. They are of any organizations. So a call with several never waits for a survey, a contact or a
-- total that another transaction holds: it leaves out what it finds held. A call with one waits for its survey and contact.

-- `record_responses` takes at most so many.
create function most_responses_at_once() returns integer
language sql immutable parallel safe
return 50;

-- How many responses to one survey can be written and not committed: one in each connection, and in one of them many.
create function most_uncommitted_responses() returns integer
language sql stable parallel safe
return current_setting('max_connections')::integer + most_responses_at_once();

create type given_response as (
  org_id      uuid,
  survey_id   uuid,
  contact_id  uuid,
  id          uuid,
  source      text,
  score       smallint,
  category    text,
  comment     text,
  held_reason text,
  traceparent text,
  created_at  timestamptz,
  type        text,
  language    text,
  properties  jsonb
);

-- The surveys of these responses, locked: none that takes no responses on the scale of one of them, or of which one may
-- be the last; and of several responses none that is held.
--
-- The last response must be recognized although others are being committed. A response that finds more contacts left than
-- there can be uncommitted responses is not the last, whatever becomes of the others: alone it holds the survey's row FOR
-- KEY SHARE, as its foreign key does anyway, and waits for no other response. Several lock the row so that no two calls
-- write many to the same survey at once: `most_uncommitted_responses` has room for one of them. A response that finds fewer
-- contacts left takes the row FOR UPDATE, and sees all that held it. So no response overlooks the one before it, and only
-- the last few of a survey wait for each other's commit. A lock is never upgraded: two that do would wait for each other.
create function lock_surveys_to_record(given given_response[]) returns uuid[]
language plpgsql
as $$
declare
  near constant uuid[] := array(
    select s.survey_id
    from (select distinct org_id, survey_id from unnest(given) where contact_id is not null and held_reason is null) s
    join survey_tallies t on t.org_id = s.org_id and t.survey_id = s.survey_id
    group by s.survey_id
    having sum(t.contacts - t.responded) <= most_uncommitted_responses());
  locked uuid[] := '{}';
begin
  if cardinality(given) = 1 and cardinality(near) = 1 then
    locked := array(
      select id from surveys
      where org_id = given[1].org_id and id = given[1].survey_id and type = given[1].type
        and (status = 'active' or completed_by = 'answers')
      for update);
  elsif cardinality(given) = 1 then
    locked := array(
      select id from surveys
      where org_id = given[1].org_id and id = given[1].survey_id and type = given[1].type
        and (status = 'active' or completed_by = 'answers')
      for key share);
  elsif cardinality(near) > 0 then
    locked := array(
      select l.id
      from (select distinct org_id, survey_id from unnest(given) where survey_id = any (near)) g
      cross join lateral (
        select s.id
        from surveys s
        where s.org_id = g.org_id and s.id = g.survey_id and (s.status = 'active' or s.completed_by = 'answers')
          and s.type = all (select a.type from unnest(given) a where a.survey_id = s.id)
        for update skip locked
      ) l);
  end if;
  if cardinality(given) > 1 and exists (select from unnest(given) where survey_id <> all (near)) then
    locked := locked || array(
      select l.id
      from (select distinct org_id, survey_id from unnest(given) where survey_id <> all (near)) g
      cross join lateral (
        select s.id
        from surveys s
        where s.org_id = g.org_id and s.id = g.survey_id and (s.status = 'active' or s.completed_by = 'answers')
          and s.type = all (select a.type from unnest(given) a where a.survey_id = s.id)
        for no key update skip locked
      ) l);
  end if;

  return array(
    select s.survey_id
    from (
      select org_id, survey_id, count(contact_id) filter (where held_reason is null) as counting
      from unnest(given)
      where survey_id = any (locked)
      group by org_id, survey_id
    ) s
    where s.counting = 0
      or (select sum(t.contacts - t.responded) from survey_tallies t where t.org_id = s.org_id and t.survey_id = s.survey_id)
         > case when s.survey_id = any (near) then s.counting else most_uncommitted_responses() end);
end
$$;

-- Adds to the totals of surveys, of their days and of the quarters that their contacts were mailed in. The first slot is
-- for everybody; a writer that finds it taken counts in a slot of its own and does not wait. A row that another writer is
-- just inserting cannot be seen: an advisory lock says which may be doing so. Table by table, as everywhere. A row that is
-- there is changed in place: an insert that gives way to the row costs twice as much.
create function count_in_surveys(deltas tally_delta[], asked_deltas asked_delta[]) returns void
language plpgsql
as $$
declare
  own_slot constant smallint := 1 + pg_backend_pid() % 15;
  free uuid[];
  rest tally_delta[];
  rest_asked asked_delta[];
begin
  free := array(
    select l.survey_id
    from unnest(deltas) d
    cross join lateral (
      select survey_id from survey_tallies where org_id = d.org_id and survey_id = d.survey_id and slot = 0
      for no key update skip locked
    ) l
    where d.day is null);
  update survey_tallies t
  set promoters = t.promoters + d.promoters, passives = t.passives + d.passives, detractors = t.detractors + d.detractors,
      score_sum = t.score_sum + d.score_sum, responded = t.responded + d.responded
  from unnest(deltas) d
  where d.day is null and d.survey_id = any (free)
    and t.org_id = d.org_id and t.survey_id = d.survey_id and t.slot = 0;

  rest := array(select d from unnest(deltas) d where d.day is null and d.survey_id <> all (free));
  if cardinality(rest) > 0 then
    free := free || array(
      select d.survey_id
      from unnest(rest) d
      where not exists (select from survey_tallies t where t.org_id = d.org_id and t.survey_id = d.survey_id and t.slot = 0)
        and pg_try_advisory_xact_lock(hashtextextended(d.survey_id::text, 0)));
    perform add_to_survey_tallies(array(select d from unnest(rest) d where d.survey_id = any (free)), 0::smallint);
    perform add_to_survey_tallies(array(select d from unnest(rest) d where d.survey_id <> all (free)), own_slot);
  end if;

  with changed as (
    update day_tallies t
    set promoters = t.promoters + d.promoters, passives = t.passives + d.passives, detractors = t.detractors + d.detractors,
        score_sum = t.score_sum + d.score_sum, by_half_hour = null
    from unnest(deltas) d
    where d.day is not null and d.survey_id = any (free)
      and t.org_id = d.org_id and t.survey_id = d.survey_id and t.day = d.day and t.slot = 0
    returning t.survey_id, t.day
  )
  select array(
    select d from unnest(deltas) d
    where d.day is not null and not exists (select from changed c where c.survey_id = d.survey_id and c.day = d.day)
  ) into rest;
  if cardinality(rest) > 0 then
    perform add_to_day_tallies(array(select d from unnest(rest) d where d.survey_id = any (free)), 0::smallint);
    perform add_to_day_tallies(array(select d from unnest(rest) d where d.survey_id <> all (free)), own_slot);
  end if;

  if cardinality(asked_deltas) = 0 then return; end if;
  with changed as (
    update asked_tallies t
    set asked = t.asked + d.asked, undelivered = t.undelivered + d.undelivered, answered = t.answered + d.answered
    from unnest(asked_deltas) d
    where d.survey_id = any (free)
      and t.org_id = d.org_id and t.survey_id = d.survey_id and t.quarter = d.quarter and t.slot = 0
    returning t.survey_id, t.quarter
  )
  select array(
    select d from unnest(asked_deltas) d
    where not exists (select from changed c where c.survey_id = d.survey_id and c.quarter = d.quarter)
  ) into rest_asked;
  if cardinality(rest_asked) > 0 then
    perform add_to_asked_tallies(array(select d from unnest(rest_asked) d where d.survey_id = any (free)), 0::smallint);
    perform add_to_asked_tallies(array(select d from unnest(rest_asked) d where d.survey_id <> all (free)), own_slot);
  end if;
end
$$;

-- The same for the totals of organizations and days.
create function count_in_organizations(deltas tally_delta[]) returns void
language plpgsql
as $$
declare
  own_slot constant smallint := 1 + pg_backend_pid() % 15;
  rest tally_delta[];
  absent uuid[];
begin
  with free as materialized (
    select l.org_id, l.day
    from unnest(deltas) d
    cross join lateral (
      select org_id, day from organization_day_tallies where org_id = d.org_id and day = d.day and slot = 0
      for no key update skip locked
    ) l
  ), changed as (
    update organization_day_tallies t
    set promoters = t.promoters + d.promoters, passives = t.passives + d.passives, detractors = t.detractors + d.detractors,
        by_half_hour = null
    from free f
    join unnest(deltas) d on d.org_id = f.org_id and d.day = f.day
    where t.org_id = f.org_id and t.day = f.day and t.slot = 0
    returning t.org_id, t.day
  )
  select array(
    select d from unnest(deltas) d
    where not exists (select from changed c where c.org_id = d.org_id and c.day = d.day)
  ) into rest;
  if cardinality(rest) = 0 then return; end if;

  absent := array(
    select d.org_id
    from unnest(rest) d
    where not exists (select from organization_day_tallies t where t.org_id = d.org_id and t.day = d.day and t.slot = 0)
      and pg_try_advisory_xact_lock(hashtextextended(d.org_id || ' ' || d.day, 0)));
  perform add_to_organization_day_tallies(array(select d from unnest(rest) d where d.org_id = any (absent)), 0::smallint);
  perform add_to_organization_day_tallies(array(select d from unnest(rest) d where d.org_id <> all (absent)), own_slot);
end
$$;

-- Records what it can of these responses and returns their ids. Nothing is done for the others: those of a survey or
-- contact that is held, deleted or closed, those that may be the last of their survey, and those of contacts that have a
-- response. Each of them is to be recorded alone, and then with its survey locked. Locks are taken in the order of all
-- that records responses: surveys, contacts, responses, totals.
-- The settings hold for all that it calls. Each row is found by its key, so that a plan that is made once serves lists of
-- any length; left alone, Postgres would plan some of the statements again for each list.
create function record_responses(given given_response[]) returns setof uuid
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
  locked constant uuid[] := lock_surveys_to_record(given);
  before contacts[];
  recorded uuid[];
  counted given_response[];
  setting text;
begin
  if cardinality(given) > most_responses_at_once() then raise exception 'too many responses at once'; end if;

  if cardinality(given) = 1 and cardinality(locked) = 1 then
    perform from contacts
    where org_id = given[1].org_id and survey_id = given[1].survey_id and id = given[1].contact_id
    for no key update;
  end if;
  before := array(
    select l
    from (select distinct org_id, survey_id, contact_id from unnest(given) where survey_id = any (locked)) g
    cross join lateral (
      select c.* from contacts c
      where c.org_id = g.org_id and c.survey_id = g.survey_id and c.id = g.contact_id
      for no key update skip locked
    ) l);

  setting := set_config('askback.counted', 'yes', true);
  with answered as (
    insert into responses (org_id, survey_id, contact_id, id, source, score, category, comment, held_reason,
                           traceparent, created_at, language, properties)
    select org_id, survey_id, contact_id, id, source, score, category, comment, held_reason,
           traceparent, created_at, language, properties
    from unnest(given)
    where survey_id = any (locked) and (contact_id is null or contact_id in (select id from unnest(before)))
    order by contact_id
    on conflict (contact_id) where source = 'link' do nothing
    returning id
  )
  select array(select id from answered) into recorded;
  counted := array(select g from unnest(given) g where g.id = any (recorded) and g.held_reason is null);

  if cardinality(counted) > 0 then
    update contacts c
    set status = 'responded', responded_at = g.created_at, updated_at = now()
    from unnest(counted) g
    where c.org_id = g.org_id and c.survey_id = g.survey_id and c.id = g.contact_id;

    insert into response_facets (org_id, facet, created_at, response_id, survey_id, category, score)
    select g.org_id, facet, g.created_at, g.id, g.survey_id, g.category, g.score
    from unnest(counted) g
    left join unnest(before) b on b.id = g.contact_id
    cross join lateral property_facets(case when g.contact_id is null then g.properties else b.properties end) facet
    where case when g.contact_id is null then g.properties else b.properties end <> '{}';

    perform count_responses(counted, before);
  end if;
  setting := set_config('askback.counted', '', true);
  return query select unnest(recorded);
end
$$;

-- What these responses add, to all totals; `before` is what their contacts were.
create function count_responses(counted given_response[], before contacts[]) returns void
language plpgsql
as $$
declare
  deltas constant tally_delta[] := array(
    select (org_id, survey_id, day,
            count(*) filter (where category = 'promoter'),
            count(*) filter (where category = 'passive'),
            count(*) filter (where category = 'detractor'),
            sum(score), 0, 0, count(*) filter (where newly_responded))::tally_delta
    from (
      select g.org_id, g.survey_id, (g.created_at at time zone 'UTC')::date as day, g.category, g.score,
             b.id is not null and b.responded_at is null as newly_responded
      from unnest(counted) g
      left join unnest(before) b on b.id = g.contact_id
    ) each
    group by grouping sets ((org_id, survey_id), (org_id, survey_id, day), (org_id, day))
  );
  asked_deltas constant asked_delta[] := array(
    select (b.org_id, b.survey_id, quarter_of(b.sent_at), 0, - count(*) filter (where is_undelivered(b.status)),
            count(*) filter (where b.responded_at is null))::asked_delta
    from unnest(counted) g
    join unnest(before) b on b.id = g.contact_id
    where b.sent_at is not null
    group by b.org_id, b.survey_id, quarter_of(b.sent_at)
  );
begin
  perform count_in_surveys(array(select d from unnest(deltas) d where d.survey_id is not null), asked_deltas);
  perform count_in_organizations(array(select d from unnest(deltas) d where d.survey_id is null));
end
$$;
