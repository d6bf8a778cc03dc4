-- Totals are kept, not counted: triggers add every change of an answer or a contact to the tallies in
-- the same transaction, whoever makes it (an answer, an import, a delete, a cascade).
-- A busy survey is spread over slots by connection, so that its writers do not queue for one row.

create table survey_tallies (
  org_id     uuid not null,
  survey_id  uuid not null,
  slot       smallint not null,
  promoters  integer not null default 0,
  passives   integer not null default 0,
  detractors integer not null default 0,
  score_sum  bigint not null default 0,
  contacts   integer not null default 0,
  sent       integer not null default 0,
  responded  integer not null default 0,

  primary key (survey_id, slot),
  foreign key (org_id, survey_id) references surveys (org_id, id) on delete cascade
) with (fillfactor = 50);

create index survey_tallies_by_organization on survey_tallies (org_id);

create table day_tallies (
  org_id     uuid not null,
  survey_id  uuid not null,
  day        date not null,                          -- of created_at, UTC
  slot       smallint not null,
  promoters  integer not null default 0,
  passives   integer not null default 0,
  detractors integer not null default 0,
  score_sum  bigint not null default 0,
  contacts   integer not null default 0,

  primary key (survey_id, day, slot),
  foreign key (org_id, survey_id) references surveys (org_id, id) on delete cascade
) with (fillfactor = 50);

create index day_tallies_by_organization on day_tallies (org_id, day);

-- The same over all surveys of an organization: where a page of its list begins, and its totals over
-- a range of days, without a row for each of its surveys.
create table organization_day_tallies (
  org_id     uuid not null references organizations (id) on delete cascade,
  day        date not null,
  slot       smallint not null,
  promoters  integer not null default 0,
  passives   integer not null default 0,
  detractors integer not null default 0,
  contacts   integer not null default 0,

  primary key (org_id, day, slot)
) with (fillfactor = 50);

create function tally_slot() returns smallint
language sql stable
as $$ select (pg_backend_pid() % 16)::smallint $$;

-- The triggers below join with surveys, because a survey that is being deleted takes its tallies with
-- it: what its rows would subtract goes nowhere. The organization's days lose it all the same, unless
-- the organization itself is being deleted. They touch rows in key order, so that two writers never
-- wait for each other in a circle.

-- Adds the rows of the transition table `changed`, times the trigger's argument: 1 or -1.
create function tally_responses() returns trigger
language plpgsql
as $$
declare
  sign constant integer := tg_argv[0]::integer;
begin
  insert into survey_tallies as t (org_id, survey_id, slot, promoters, passives, detractors, score_sum)
  select c.org_id, c.survey_id, tally_slot(),
         sign * count(*) filter (where c.category = 'promoter'),
         sign * count(*) filter (where c.category = 'passive'),
         sign * count(*) filter (where c.category = 'detractor'),
         sign * sum(c.score)
  from changed c
  join surveys s on s.id = c.survey_id
  where c.held_reason is null
  group by 1, 2
  order by 2
  on conflict (survey_id, slot) do update
    set promoters = t.promoters + excluded.promoters,
        passives = t.passives + excluded.passives,
        detractors = t.detractors + excluded.detractors,
        score_sum = t.score_sum + excluded.score_sum;

  insert into day_tallies as t (org_id, survey_id, day, slot, promoters, passives, detractors, score_sum)
  select c.org_id, c.survey_id, (c.created_at at time zone 'UTC')::date, tally_slot(),
         sign * count(*) filter (where c.category = 'promoter'),
         sign * count(*) filter (where c.category = 'passive'),
         sign * count(*) filter (where c.category = 'detractor'),
         sign * sum(c.score)
  from changed c
  join surveys s on s.id = c.survey_id
  where c.held_reason is null
  group by 1, 2, 3
  order by 2, 3
  on conflict (survey_id, day, slot) do update
    set promoters = t.promoters + excluded.promoters,
        passives = t.passives + excluded.passives,
        detractors = t.detractors + excluded.detractors,
        score_sum = t.score_sum + excluded.score_sum;

  insert into organization_day_tallies as t (org_id, day, slot, promoters, passives, detractors)
  select c.org_id, (c.created_at at time zone 'UTC')::date, tally_slot(),
         sign * count(*) filter (where c.category = 'promoter'),
         sign * count(*) filter (where c.category = 'passive'),
         sign * count(*) filter (where c.category = 'detractor')
  from changed c
  join organizations o on o.id = c.org_id
  where c.held_reason is null
  group by 1, 2
  order by 1, 2
  on conflict (org_id, day, slot) do update
    set promoters = t.promoters + excluded.promoters,
        passives = t.passives + excluded.passives,
        detractors = t.detractors + excluded.detractors;
  return null;
end
$$;

create trigger responses_added after insert on responses
  referencing new table as changed for each statement execute function tally_responses('1');
create trigger responses_removed after delete on responses
  referencing old table as changed for each statement execute function tally_responses('-1');
create trigger responses_changed_from after update on responses
  referencing old table as changed for each statement execute function tally_responses('-1');
create trigger responses_changed_to after update on responses
  referencing new table as changed for each statement execute function tally_responses('1');

create function tally_contacts() returns trigger
language plpgsql
as $$
declare
  sign constant integer := tg_argv[0]::integer;
begin
  insert into survey_tallies as t (org_id, survey_id, slot, contacts, sent, responded)
  select c.org_id, c.survey_id, tally_slot(),
         sign * count(*), sign * count(c.sent_at), sign * count(c.responded_at)
  from changed c
  join surveys s on s.id = c.survey_id
  group by 1, 2
  order by 2
  on conflict (survey_id, slot) do update
    set contacts = t.contacts + excluded.contacts,
        sent = t.sent + excluded.sent,
        responded = t.responded + excluded.responded;

  insert into day_tallies as t (org_id, survey_id, day, slot, contacts)
  select c.org_id, c.survey_id, (c.created_at at time zone 'UTC')::date, tally_slot(), sign * count(*)
  from changed c
  join surveys s on s.id = c.survey_id
  group by 1, 2, 3
  order by 2, 3
  on conflict (survey_id, day, slot) do update
    set contacts = t.contacts + excluded.contacts;

  insert into organization_day_tallies as t (org_id, day, slot, contacts)
  select c.org_id, (c.created_at at time zone 'UTC')::date, tally_slot(), sign * count(*)
  from changed c
  join organizations o on o.id = c.org_id
  group by 1, 2
  order by 1, 2
  on conflict (org_id, day, slot) do update
    set contacts = t.contacts + excluded.contacts;
  return null;
end
$$;

create trigger contacts_added after insert on contacts
  referencing new table as changed for each statement execute function tally_contacts('1');
create trigger contacts_removed after delete on contacts
  referencing old table as changed for each statement execute function tally_contacts('-1');

-- A contact changes often and moves a total rarely: when it is first mailed, and when it answers.
-- It never changes its survey or the day it was added.
create function tally_contacts_progress() returns trigger
language plpgsql
as $$
begin
  insert into survey_tallies as t (org_id, survey_id, slot, sent, responded)
  select n.org_id, n.survey_id, tally_slot(),
         count(n.sent_at) - count(o.sent_at), count(n.responded_at) - count(o.responded_at)
  from old_rows o
  join new_rows n using (id)
  join surveys s on s.id = n.survey_id
  group by 1, 2
  having count(n.sent_at) <> count(o.sent_at) or count(n.responded_at) <> count(o.responded_at)
  order by 2
  on conflict (survey_id, slot) do update
    set sent = t.sent + excluded.sent,
        responded = t.responded + excluded.responded;
  return null;
end
$$;

create trigger contacts_changed after update on contacts
  referencing old table as old_rows new table as new_rows
  for each statement execute function tally_contacts_progress();

-- Folding: a survey that rests, and a day that is over, need one slot. Nothing is waited for while
-- rows are held: a slot that a writer holds stays for the next time. One transaction a survey.
create index survey_tallies_to_fold on survey_tallies (survey_id) where slot <> 0;
create index day_tallies_to_fold on day_tallies (survey_id, day) where slot <> 0;
create index organization_day_tallies_to_fold on organization_day_tallies (org_id, day) where slot <> 0;

create procedure fold_tallies()
language plpgsql
as $$
declare
  today constant date := (now() at time zone 'UTC')::date;
  owner uuid;
begin
  for owner in
    select survey_id from survey_tallies where slot <> 0
    union
    select survey_id from day_tallies where slot <> 0 and day < today
  loop
    -- First the owner, as a delete of it does: the two must not wait for each other.
    perform from surveys where id = owner for key share skip locked;
    continue when not found;

    with held as (
      select survey_id, slot from survey_tallies
      where survey_id = owner and slot <> 0
      for update skip locked
    ), gone as (
      delete from survey_tallies t using held h
      where t.survey_id = h.survey_id and t.slot = h.slot
      returning t.*
    )
    insert into survey_tallies as t
      (org_id, survey_id, slot, promoters, passives, detractors, score_sum, contacts, sent, responded)
    select org_id, survey_id, 0, sum(promoters), sum(passives), sum(detractors), sum(score_sum),
           sum(contacts), sum(sent), sum(responded)
    from gone
    group by org_id, survey_id
    on conflict (survey_id, slot) do update
      set promoters = t.promoters + excluded.promoters,
          passives = t.passives + excluded.passives,
          detractors = t.detractors + excluded.detractors,
          score_sum = t.score_sum + excluded.score_sum,
          contacts = t.contacts + excluded.contacts,
          sent = t.sent + excluded.sent,
          responded = t.responded + excluded.responded;

    with held as (
      select survey_id, day, slot from day_tallies
      where survey_id = owner and slot <> 0 and day < today
      for update skip locked
    ), gone as (
      delete from day_tallies t using held h
      where t.survey_id = h.survey_id and t.day = h.day and t.slot = h.slot
      returning t.*
    )
    insert into day_tallies as t
      (org_id, survey_id, day, slot, promoters, passives, detractors, score_sum, contacts)
    select org_id, survey_id, day, 0, sum(promoters), sum(passives), sum(detractors), sum(score_sum),
           sum(contacts)
    from gone
    group by org_id, survey_id, day
    order by day
    on conflict (survey_id, day, slot) do update
      set promoters = t.promoters + excluded.promoters,
          passives = t.passives + excluded.passives,
          detractors = t.detractors + excluded.detractors,
          score_sum = t.score_sum + excluded.score_sum,
          contacts = t.contacts + excluded.contacts;
    commit;
  end loop;

  for owner in
    select distinct org_id from organization_day_tallies where slot <> 0 and day < today
  loop
    perform from organizations where id = owner for key share skip locked;
    continue when not found;

    with held as (
      select org_id, day, slot from organization_day_tallies
      where org_id = owner and slot <> 0 and day < today
      for update skip locked
    ), gone as (
      delete from organization_day_tallies t using held h
      where t.org_id = h.org_id and t.day = h.day and t.slot = h.slot
      returning t.*
    )
    insert into organization_day_tallies as t
      (org_id, day, slot, promoters, passives, detractors, contacts)
    select org_id, day, 0, sum(promoters), sum(passives), sum(detractors), sum(contacts)
    from gone
    group by org_id, day
    order by day
    on conflict (org_id, day, slot) do update
      set promoters = t.promoters + excluded.promoters,
          passives = t.passives + excluded.passives,
          detractors = t.detractors + excluded.detractors,
          contacts = t.contacts + excluded.contacts;
    commit;
  end loop;
end
$$;
