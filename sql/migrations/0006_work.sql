create table worker_pools (
  pool_id      text primary key,
  session      text not null,
  session_role name not null,
  program      text,
  started_at   timestamptz not null default now()
);

comment on table worker_pools is
  'The worker pool of a live process. A process takes over the jobs of pools whose session has ended';
comment on column worker_pools.pool_id is 'the name in claims of jobs and deliveries';
comment on column worker_pools.session is 'the application_name of the connection that lives as long as the pool';
comment on column worker_pools.session_role is 'the role of that connection, which another role cannot imitate';

-- Every role can see the name and the role of a session.
create function is_alive(pool worker_pools) returns boolean
language sql stable
return exists (
  select
  from pg_stat_activity
  where datname = current_database() and application_name = pool.session and usename = pool.session_role
);

create table service_record (
  is_singleton boolean primary key default true check (is_singleton),
  public_url   text not null,
  updated_at   timestamptz not null default now()
);

comment on table service_record is 'State of a running service, for commands to read';

-- Comments that wait for analysis. Organizations are claimed in turn, so that the history of one does not delay
-- comments of another.

create table waiting_analyses (
  org_id      uuid not null,
  response_id uuid not null,
  is_history  boolean not null default false,
  due_at      timestamptz not null default now(),
  tries       smallint not null default 0,
  asked_at    timestamptz,
  traceparent text,
  created_at  timestamptz not null default now(),
  claimed_by  text,

  primary key (org_id, response_id),
  foreign key (org_id, response_id) references responses (org_id, id) on delete cascade
);

comment on table waiting_analyses is 'A response whose comment waits for analysis';
comment on column waiting_analyses.is_history is
  'true for imported and reanalyzed comments, which are analyzed after the organization''s new ones';
comment on column waiting_analyses.asked_at is 'when a new analysis was requested, which replaces older ones';
comment on column waiting_analyses.traceparent is 'the span that caused it';
comment on column waiting_analyses.claimed_by is 'the worker pool that processes it';

create index waiting_analyses_due on waiting_analyses (org_id, is_history, due_at);

-- Erased people. Only a keyed hash of their address is stored, to recognize the address when it returns.

create function keyed_hash(key bytea, email text) returns bytea
language sql immutable parallel safe
return sha256(key || sha256(key || convert_to(lower(email), 'UTF8')));

create function address_hash(in_org uuid, email text) returns bytea
language sql stable parallel safe
return (select keyed_hash(address_key, email) from organizations where id = in_org);

create table erasures (
  id           uuid primary key default gen_random_uuid(),
  org_id       uuid not null references organizations (id) on delete cascade,
  address_hash bytea not null check (octet_length(address_hash) = 32),
  scores       text not null check (scores in ('kept', 'deleted')),
  counts       jsonb not null check (jsonb_typeof(counts) = 'object'),
  erased_at    timestamptz not null default now(),
  allowed_at   timestamptz,
  filed_at     timestamptz
);

comment on table erasures is 'The receipt of an erasure. Nothing is stored for the address until an owner unblocks it';
comment on column erasures.address_hash is 'keyed hash of the address in lower case: see the function keyed_hash';
comment on column erasures.scores is 'kept as anonymous responses, or deleted with everything else';
comment on column erasures.counts is 'number of deleted or emptied rows by kind';
comment on column erasures.allowed_at is 'when an owner unblocked the address';
comment on column erasures.filed_at is 'when the current version of this row was appended to the file of erasures';

create unique index erasures_in_force on erasures (org_id, address_hash) where allowed_at is null;
create index erasures_newest_first on erasures (org_id, erased_at desc, id desc);
create index erasures_to_file on erasures (erased_at) where filed_at is null;

-- An erasure waits until all transactions that add contacts to the organization have committed, and they wait for the
-- erasure. Call this before locking a survey, to avoid a deadlock. Advisory locks queue, but row locks would not: three
-- imports at once kept an erasure waiting for 9 seconds, six for minutes.
create function hold_off_erasures(in_org uuid) returns void
language sql
return pg_advisory_xact_lock_shared(hashtextextended('erasures ' || in_org, 0));

create function begin_erasure(in_org uuid) returns void
language sql
return pg_advisory_xact_lock(hashtextextended('erasures ' || in_org, 0));

-- A safeguard: all code that adds contacts has already skipped or refused erased addresses.
create function refuse_erased_contacts() returns trigger
language plpgsql as $$
declare
  owner uuid;
  key bytea;
begin
  for owner in select distinct org_id from changed loop
    perform hold_off_erasures(owner);
    continue when not exists (select from erasures where org_id = owner and allowed_at is null);
    select address_key into key from organizations where id = owner;
    if exists (
      select
      from changed c
      join erasures e on e.org_id = owner and e.address_hash = keyed_hash(key, c.email_key) and e.allowed_at is null
      where c.org_id = owner
    ) then
      raise exception 'a contact has an erased address'
        using errcode = 'check_violation', constraint = 'contacts_are_not_erased';
    end if;
  end loop;
  return null;
end $$;

create trigger contacts_are_not_erased after insert on contacts
  referencing new table as changed for each statement execute function refuse_erased_contacts();
create trigger people_are_not_erased after insert on people
  referencing new table as changed for each statement execute function refuse_erased_contacts();

-- Replaces the address of an erased person with `[email]` in comments, notes, names and properties of other people, at
-- the erasure and in later writes.

-- The addresses in a text, or in JSON as Postgres writes it, in lower case. Each address is returned twice: as written,
-- and without leading characters that are rare in addresses.
create function addresses_in(said text) returns setof text
language sql immutable parallel safe
begin atomic
  select distinct lower(address)
  from regexp_matches(
         said, '(?:\\[bfnrt])?([a-z0-9!#$%&''*+/=?^_`{|}~.-]+@[a-z0-9-]+(?:\.[a-z0-9-]+)+)', 'gi') as found
  cross join unnest(array[found[1], substring(found[1] from '[A-Za-z0-9._%+-]+@.*$')]) as address;
end;

-- The same pattern as in src/lib/smtp/address.ts.
create function address_pattern(key text) returns text
language sql immutable parallel safe
return '(?:(?<![a-z0-9._%+-])|(?<=\\[bfnrt]))' || regexp_replace(key, '([^a-z0-9])', '\\\1', 'g')
    || '(?![a-z0-9-]|\.[a-z0-9])';

create function hide_address(said text, key text) returns text
language sql immutable parallel safe
return regexp_replace(said, address_pattern(key), '[email]', 'gi');

create function hide_erased(in_org uuid, said text) returns text
language plpgsql stable parallel safe
as $$
declare
  owner_key bytea;
  address text;
begin
  if said is null or position('@' in said) = 0
    or not exists (select from erasures where org_id = in_org and allowed_at is null)
  then
    return said;
  end if;
  select address_key into owner_key from organizations where id = in_org;
  for address in select addresses_in(said) loop
    if exists (
      select from erasures
      where org_id = in_org and allowed_at is null and address_hash = keyed_hash(owner_key, address)
    ) then
      said := hide_address(said, address);
    end if;
  end loop;
  return said;
end $$;

create function hide_erased_in_comment() returns trigger
language plpgsql as $$
begin
  new.comment := hide_erased(new.org_id, new.comment);
  return new;
end $$;

create function hide_erased_in_answers() returns trigger
language plpgsql as $$
begin
  new.answers := hide_erased(new.org_id, new.answers::text)::jsonb;
  return new;
end $$;

create function hide_erased_in_note() returns trigger
language plpgsql as $$
begin
  new.text := hide_erased(new.org_id, new.text);
  return new;
end $$;

-- A response stores the round of its contact, and the properties that the contact had at the time. The lock waits for an
-- erasure that removes an address from the properties.
create function keep_properties() returns trigger
language plpgsql as $$
begin
  if new.properties is not null then
    new.properties := hide_erased(new.org_id, new.properties::text)::jsonb;
  end if;
  if new.contact_id is not null then
    select coalesce(new.properties, c.properties), c.round into new.properties, new.round
    from contacts c
    where c.org_id = new.org_id and c.survey_id = new.survey_id and c.id = new.contact_id
    for key share;
  end if;
  return new;
end $$;

create trigger responses_keep_properties before insert on responses
  for each row when (new.contact_id is not null or new.properties::text like '%@%')
  execute function keep_properties();
create trigger comments_hide_erased before insert or update of comment on responses
  for each row when (new.comment like '%@%') execute function hide_erased_in_comment();
create trigger response_answers_hide_erased before insert or update of answers on response_answers
  for each row when (new.answers::text like '%@%') execute function hide_erased_in_answers();
create trigger notes_hide_erased before insert or update of text on response_notes
  for each row when (new.text like '%@%') execute function hide_erased_in_note();
create trigger replies_hide_erased before insert or update of text on replies
  for each row when (new.text like '%@%') execute function hide_erased_in_note();

-- Records concurrent responses in one call, so that statements, checks and triggers are prepared once. The
-- responses may belong to several organizations. A call with several responses never waits for a survey or contact that
-- another transaction has locked, but leaves its responses out. A call with one response waits.

-- The maximum of `record_responses`.
create function most_responses_at_once() returns integer
language sql immutable parallel safe
return 50;

-- The number of responses to one survey that can be written but not yet committed: one in each connection, and a full
-- group in one of them.
create function most_uncommitted_responses() returns integer
language sql stable parallel safe
return current_setting('max_connections')::integer + most_responses_at_once();

create type given_response as (
  org_id uuid, survey_id uuid, contact_id uuid, id uuid,
  source text, score smallint, category text, comment text, held_reason text,
  traceparent text, created_at timestamptz, type text, language text, properties jsonb
);

-- Locks the surveys of these responses and returns their ids. Leaves out surveys that take no responses, use another
-- scale, or may be completed by one of the responses. With several responses, also leaves out locked surveys.
--
-- The last response must be recognized while others are being committed. A response that finds more remaining contacts
-- than there can be uncommitted responses is not the last. Alone, it locks the survey FOR KEY SHARE, as its foreign key
-- does anyway, and waits for no other response. A group locks the survey FOR NO KEY UPDATE, because
-- `most_uncommitted_responses` allows for only one group per survey.
--
-- A response that finds fewer remaining contacts locks the survey FOR UPDATE and sees all earlier responses. So no
-- response overlooks an earlier one, and only the last few responses of a survey wait for each other. Locks are never
-- upgraded, because two upgrades would deadlock.
create function lock_surveys_to_record(given given_response[]) returns uuid[]
language plpgsql as $$
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
end $$;

-- Records these responses as far as possible and returns the ids of the recorded ones. Leaves out responses whose
-- survey or contact is locked, deleted or closed, responses that may be the last of their survey, and responses of
-- contacts that have already answered. The caller records each of them alone, with its survey locked. Locks are taken
-- in the usual order: surveys, contacts, responses, totals.
--
-- The settings also apply to the functions that it calls. All rows are found by key, so that one generic plan serves
-- lists of any length. By default, Postgres would plan some statements again for each list.
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
end $$;
