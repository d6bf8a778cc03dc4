-- Responses that came at the same time, recorded in one call: each statement, its checks and its triggers are prepared
-- once for all of them. They are of any organizations. So a call with several never waits for a survey or a contact
-- that another transaction holds: it leaves out what it finds held. A call with one waits for its survey and contact.

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
  own_contacts uuid[];
  recorded uuid[];
begin
  if cardinality(given) > most_responses_at_once() then raise exception 'too many responses at once'; end if;

  if cardinality(given) = 1 and cardinality(locked) = 1 then
    perform from contacts
    where org_id = given[1].org_id and survey_id = given[1].survey_id and id = given[1].contact_id
    for no key update;
  end if;
  own_contacts := array(
    select l.id
    from (select distinct org_id, survey_id, contact_id from unnest(given) where survey_id = any (locked)) g
    cross join lateral (
      select c.id from contacts c
      where c.org_id = g.org_id and c.survey_id = g.survey_id and c.id = g.contact_id
      for no key update skip locked
    ) l);

  with answered as (
    insert into responses (org_id, survey_id, contact_id, id, source, score, category, comment, held_reason,
                           traceparent, created_at, language, properties)
    select org_id, survey_id, contact_id, id, source, score, category, comment, held_reason,
           traceparent, created_at, language, properties
    from unnest(given)
    where survey_id = any (locked) and (contact_id is null or contact_id = any (own_contacts))
    order by contact_id
    on conflict (contact_id) where source = 'link' do nothing
    returning id
  )
  select array(select id from answered) into recorded;

  update contacts c
  set status = 'responded', responded_at = g.created_at, updated_at = now()
  from unnest(given) g
  where g.id = any (recorded) and g.held_reason is null
    and c.org_id = g.org_id and c.survey_id = g.survey_id and c.id = g.contact_id;
  return query select unnest(recorded);
end
$$;
