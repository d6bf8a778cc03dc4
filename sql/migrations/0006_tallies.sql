-- Totals are kept, not counted: triggers add every change of a response or a contact to the tallies in the same
-- transaction, whether it comes from an answer, an import, a delete or a cascade.
-- A tally has a slot for each connection that writes it, so that writers to one survey do not wait for each other. An
-- hourly job folds the slots into one. The totals of an organization are the sums over its surveys.

create table survey_tallies (
  org_id     uuid not null,
  survey_id  uuid not null,
  slot       integer not null,
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

comment on table survey_tallies is
  'Totals of a survey. The sum over its slots counts';
comment on column survey_tallies.slot is '0 when folded, else the backend that writes it';
comment on column survey_tallies.promoters is 'responses that count as promoter';
comment on column survey_tallies.passives is 'responses that count as passive';
comment on column survey_tallies.detractors is 'responses that count as detractor';
comment on column survey_tallies.score_sum is 'sum of the scores of all these';
comment on column survey_tallies.contacts is 'contacts of the survey';
comment on column survey_tallies.sent is 'contacts that a mail was sent to';
comment on column survey_tallies.responded is 'contacts that have responded';

create index survey_tallies_by_organization on survey_tallies (org_id);

create table hour_tallies (
  org_id     uuid not null,
  survey_id  uuid not null,
  hour       timestamptz not null,
  slot       integer not null,
  promoters  integer not null default 0,
  passives   integer not null default 0,
  detractors integer not null default 0,
  score_sum  integer not null default 0,
  contacts   integer not null default 0,

  primary key (survey_id, hour, slot),
  foreign key (org_id, survey_id) references surveys (org_id, id) on delete cascade
) with (fillfactor = 80);

comment on table hour_tallies is
  'Totals of a survey and hour. The sum over the slots counts';
comment on column hour_tallies.hour is 'when it begins: of created_at, UTC';
comment on column hour_tallies.slot is '0 when folded, else the backend that writes it';
comment on column hour_tallies.promoters is 'responses that count as promoter';
comment on column hour_tallies.passives is 'responses that count as passive';
comment on column hour_tallies.detractors is 'responses that count as detractor';
comment on column hour_tallies.score_sum is 'sum of the scores of all these';
comment on column hour_tallies.contacts is 'contacts added in that hour';

create index hour_tallies_by_organization on hour_tallies (org_id, hour);

create table asked_tallies (
  org_id      uuid not null,
  survey_id   uuid not null,
  quarter     timestamptz not null,
  slot        integer not null,
  asked       integer not null default 0,
  undelivered integer not null default 0,
  answered    integer not null default 0,

  primary key (survey_id, quarter, slot),
  foreign key (org_id, survey_id) references surveys (org_id, id) on delete cascade
) with (fillfactor = 50);

comment on table asked_tallies is
  'How far the contacts have come that were first mailed in a quarter of an hour: in no time zone does a day begin within one. The sum over the slots counts';
comment on column asked_tallies.quarter is 'when it begins';
comment on column asked_tallies.slot is '0 when folded, else the backend that writes it';
comment on column asked_tallies.asked is 'contacts that were mailed then';
comment on column asked_tallies.undelivered is 'those of them whose mail failed or bounced after all';
comment on column asked_tallies.answered is 'those of them that have responded';

-- Where mails go out one by one there is a row for nearly each: they are summed up without their table.
create index asked_tallies_by_organization on asked_tallies (org_id, quarter)
  include (survey_id, asked, undelivered, answered);

-- What rows add to the total of a survey, which has no hour, or to that of one of its hours.
create type tally_delta as (
  org_id     uuid,
  survey_id  uuid,
  hour       timestamptz,
  promoters  integer,
  passives   integer,
  detractors integer,
  score_sum  bigint,
  contacts   integer,
  sent       integer,
  responded  integer
);

-- What contacts add to the tally of the quarter that they were first mailed in.
create type asked_delta as (
  org_id      uuid,
  survey_id   uuid,
  quarter     timestamptz,
  asked       integer,
  undelivered integer,
  answered    integer
);

create function quarter_of(at timestamptz) returns timestamptz
language sql immutable parallel safe
return date_bin('15 minutes', at, timestamptz '2000-01-01 00:00Z');

create function hour_of(at timestamptz) returns timestamptz
language sql immutable parallel safe
return date_bin('1 hour', at, timestamptz '2000-01-01 00:00Z');

create function is_undelivered(status text) returns boolean
language sql immutable parallel safe
return status in ('failed', 'bounced');

-- Of this connection alone: no writer waits for another. Only folding writes the rows of slot 0.
create function tally_slot() returns integer
language sql stable
return pg_backend_pid();

-- The joins below leave out surveys that are being deleted: they take their tallies with them.

create function add_to_survey_tallies(deltas tally_delta[], into_slot integer) returns void
language plpgsql
as $$
begin
  insert into survey_tallies as t
    (org_id, survey_id, slot, promoters, passives, detractors, score_sum, contacts, sent, responded)
  select d.org_id, d.survey_id, into_slot, d.promoters, d.passives, d.detractors, d.score_sum, d.contacts, d.sent, d.responded
  from unnest(deltas) d
  join surveys s on s.id = d.survey_id
  where d.hour is null
  order by d.survey_id
  on conflict (survey_id, slot) do update
    set promoters = t.promoters + excluded.promoters,
        passives = t.passives + excluded.passives,
        detractors = t.detractors + excluded.detractors,
        score_sum = t.score_sum + excluded.score_sum,
        contacts = t.contacts + excluded.contacts,
        sent = t.sent + excluded.sent,
        responded = t.responded + excluded.responded;
end
$$;

create function add_to_hour_tallies(deltas tally_delta[], into_slot integer) returns void
language plpgsql
as $$
begin
  insert into hour_tallies as t (org_id, survey_id, hour, slot, promoters, passives, detractors, score_sum, contacts)
  select d.org_id, d.survey_id, d.hour, into_slot, d.promoters, d.passives, d.detractors, d.score_sum, d.contacts
  from unnest(deltas) d
  join surveys s on s.id = d.survey_id
  where d.hour is not null
  order by d.survey_id, d.hour
  on conflict (survey_id, hour, slot) do update
    set promoters = t.promoters + excluded.promoters,
        passives = t.passives + excluded.passives,
        detractors = t.detractors + excluded.detractors,
        score_sum = t.score_sum + excluded.score_sum,
        contacts = t.contacts + excluded.contacts;
end
$$;

create function add_to_asked_tallies(deltas asked_delta[], into_slot integer) returns void
language plpgsql
as $$
begin
  insert into asked_tallies as t (org_id, survey_id, quarter, slot, asked, undelivered, answered)
  select d.org_id, d.survey_id, d.quarter, into_slot, d.asked, d.undelivered, d.answered
  from unnest(deltas) d
  join surveys s on s.id = d.survey_id
  order by d.survey_id, d.quarter
  on conflict (survey_id, quarter, slot) do update
    set asked = t.asked + excluded.asked,
        undelivered = t.undelivered + excluded.undelivered,
        answered = t.answered + excluded.answered;
end
$$;

create function add_to_tallies(deltas tally_delta[], into_slot integer) returns void
language plpgsql
as $$
begin
  perform add_to_survey_tallies(deltas, into_slot);
  perform add_to_hour_tallies(deltas, into_slot);
end
$$;

-- Adds the responses of the transition table `changed`, times the trigger's argument: 1 or -1.
create function tally_responses() returns trigger
language plpgsql
as $$
declare
  sign constant integer := tg_argv[0]::integer;
  deltas constant tally_delta[] := array(
    with counted as (
      select org_id, survey_id, hour_of(created_at) as hour, category, score
      from changed
      where held_reason is null
    )
    select (org_id, survey_id, hour,
            sign * count(*) filter (where category = 'promoter'),
            sign * count(*) filter (where category = 'passive'),
            sign * count(*) filter (where category = 'detractor'),
            sign * sum(score), 0, 0, 0)::tally_delta
    from counted
    group by grouping sets ((org_id, survey_id), (org_id, survey_id, hour))
  );
begin
  perform add_to_tallies(deltas, tally_slot());
  return null;
end
$$;

create trigger responses_added after insert on responses
  referencing new table as changed for each statement execute function tally_responses('1');
create trigger responses_removed after delete on responses
  referencing old table as changed for each statement execute function tally_responses('-1');
create function tally_changed_responses() returns trigger
language plpgsql
as $$
declare
  deltas constant tally_delta[] := array(
    with counted as (
      select 1 as sign, org_id, survey_id, hour_of(created_at) as hour, category, score
      from new_rows
      where held_reason is null
      union all
      select -1, org_id, survey_id, hour_of(created_at), category, score
      from old_rows
      where held_reason is null
    )
    select (org_id, survey_id, hour,
            coalesce(sum(sign) filter (where category = 'promoter'), 0),
            coalesce(sum(sign) filter (where category = 'passive'), 0),
            coalesce(sum(sign) filter (where category = 'detractor'), 0),
            sum(sign * score), 0, 0, 0)::tally_delta
    from counted
    group by grouping sets ((org_id, survey_id), (org_id, survey_id, hour))
  );
begin
  perform add_to_tallies(deltas, tally_slot());
  return null;
end
$$;

create trigger responses_changed after update on responses
  referencing old table as old_rows new table as new_rows
  for each statement execute function tally_changed_responses();

create function tally_contacts() returns trigger
language plpgsql
as $$
declare
  sign constant integer := tg_argv[0]::integer;
  deltas constant tally_delta[] := array(
    with counted as (
      select org_id, survey_id, hour_of(created_at) as hour, sent_at, responded_at
      from changed
    )
    select (org_id, survey_id, hour, 0, 0, 0, 0,
            sign * count(*), sign * count(sent_at), sign * count(responded_at))::tally_delta
    from counted
    group by grouping sets ((org_id, survey_id), (org_id, survey_id, hour))
  );
  asked constant asked_delta[] := array(
    select (org_id, survey_id, quarter_of(sent_at), sign * count(*),
            sign * count(*) filter (where is_undelivered(status)), sign * count(responded_at))::asked_delta
    from changed
    where sent_at is not null
    group by org_id, survey_id, quarter_of(sent_at)
  );
begin
  perform add_to_tallies(deltas, tally_slot());
  if cardinality(asked) > 0 then perform add_to_asked_tallies(asked, tally_slot()); end if;
  return null;
end
$$;

create trigger contacts_added after insert on contacts
  referencing new table as changed for each statement execute function tally_contacts('1');
create trigger contacts_removed after delete on contacts
  referencing old table as changed for each statement execute function tally_contacts('-1');

-- A contact changes often and moves a total rarely: when it is first mailed, and when it answers.
-- It never changes its survey or the time it was added.
create function tally_contacts_progress() returns trigger
language plpgsql
as $$
declare
  deltas constant tally_delta[] := array(
    select (n.org_id, n.survey_id, null, 0, 0, 0, 0, 0,
            count(n.sent_at) - count(o.sent_at), count(n.responded_at) - count(o.responded_at))::tally_delta
    from old_rows o
    join new_rows n using (id)
    group by n.org_id, n.survey_id
    having count(n.sent_at) <> count(o.sent_at) or count(n.responded_at) <> count(o.responded_at)
  );
  asked constant asked_delta[] := array(
    with stood as (
      select 1 as sign, org_id, survey_id, sent_at, status, responded_at from new_rows where sent_at is not null
      union all
      select -1, org_id, survey_id, sent_at, status, responded_at from old_rows where sent_at is not null
    ), summed as (
      select org_id, survey_id, quarter_of(sent_at) as quarter, sum(sign) as asked,
             coalesce(sum(sign) filter (where is_undelivered(status)), 0) as undelivered,
             coalesce(sum(sign) filter (where responded_at is not null), 0) as answered
      from stood
      group by 1, 2, 3
    )
    select (org_id, survey_id, quarter, asked, undelivered, answered)::asked_delta
    from summed
    where (asked, undelivered, answered) <> (0, 0, 0)
  );
begin
  if cardinality(deltas) > 0 then perform add_to_survey_tallies(deltas, tally_slot()); end if;
  if cardinality(asked) > 0 then perform add_to_asked_tallies(asked, tally_slot()); end if;
  return null;
end
$$;

create trigger contacts_changed after update on contacts
  referencing old table as old_rows new table as new_rows
  for each statement
  execute function tally_contacts_progress();

-- Folding: a survey that rests, and an hour that is over, need one slot. A slot that a writer holds stays for the next
-- time. One transaction a survey.
create index survey_tallies_to_fold on survey_tallies (survey_id) where slot <> 0;
create index hour_tallies_to_fold on hour_tallies (survey_id, hour) where slot <> 0;
create index asked_tallies_to_fold on asked_tallies (survey_id, quarter) where slot <> 0;

create procedure fold_tallies()
language plpgsql
as $$
declare
  this_hour constant timestamptz := hour_of(now());
  owner uuid;
  deltas tally_delta[];
  asked_deltas asked_delta[];
begin
  for owner in
    select survey_id from survey_tallies where slot <> 0
    union
    select survey_id from hour_tallies where slot <> 0 and hour < this_hour
    union
    select survey_id from asked_tallies where slot <> 0 and quarter < this_hour
  loop
    -- First the survey, as a delete of it does: the two must not wait for each other.
    perform from surveys where id = owner for key share skip locked;
    continue when not found;

    with held as (
      select slot from survey_tallies where survey_id = owner and slot <> 0 for update skip locked
    ), gone as (
      delete from survey_tallies t using held h where t.survey_id = owner and t.slot = h.slot returning t.*
    ), held_hours as (
      select hour, slot from hour_tallies where survey_id = owner and slot <> 0 and hour < this_hour for update skip locked
    ), gone_hours as (
      delete from hour_tallies t using held_hours h
      where t.survey_id = owner and t.hour = h.hour and t.slot = h.slot
      returning t.*
    )
    select array(
      select (org_id, survey_id, null, sum(promoters), sum(passives), sum(detractors), sum(score_sum),
              sum(contacts), sum(sent), sum(responded))::tally_delta
      from gone
      group by org_id, survey_id
      union all
      select (org_id, survey_id, hour, sum(promoters), sum(passives), sum(detractors), sum(score_sum),
              sum(contacts), 0, 0)::tally_delta
      from gone_hours
      group by org_id, survey_id, hour
    ) into deltas;
    perform add_to_tallies(deltas, 0);

    with held as (
      select quarter, slot from asked_tallies
      where survey_id = owner and slot <> 0 and quarter < this_hour
      for update skip locked
    ), gone as (
      delete from asked_tallies t using held h
      where t.survey_id = owner and t.quarter = h.quarter and t.slot = h.slot
      returning t.*
    )
    select array(
      select (org_id, survey_id, quarter, sum(asked), sum(undelivered), sum(answered))::asked_delta
      from gone
      group by org_id, survey_id, quarter
    ) into asked_deltas;
    perform add_to_asked_tallies(asked_deltas, 0);
    commit;
  end loop;
end
$$;
