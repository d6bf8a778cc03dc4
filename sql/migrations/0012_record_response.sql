-- Adds one response, of a contact that has not responded before when `contact` is 1, to the totals; `asked` is what it
-- adds to the quarter that the contact was mailed in, null for one that was not. The first slot is for everybody; a
-- writer that finds it taken counts in a slot of its own and does not wait. A row that another writer is just
-- inserting cannot be seen: an advisory lock says which may be doing so. Table by table, as everywhere. A row that is
-- there is changed in place: an insert that gives way to the row costs twice as much. Returns the slot of the
-- organization's total.
create function count_response(
  in_org uuid, in_survey uuid, in_day date, in_category text, in_score smallint, in_contact integer,
  in_asked asked_delta
) returns smallint
language plpgsql
as $$
declare
  promoter constant integer := (in_category = 'promoter')::integer;
  passive constant integer := (in_category = 'passive')::integer;
  detractor constant integer := (in_category = 'detractor')::integer;
  own_slot constant smallint := 1 + pg_backend_pid() % 15;
  in_slot smallint := 0;
begin
  update survey_tallies t
  set promoters = promoters + promoter, passives = passives + passive, detractors = detractors + detractor,
      score_sum = score_sum + in_score, responded = responded + in_contact
  from (select survey_id as id from survey_tallies where survey_id = in_survey and slot = 0
        for no key update skip locked) free
  where t.org_id = in_org and t.survey_id = free.id and t.slot = 0;
  if not found then
    if exists (select from survey_tallies where survey_id = in_survey and slot = 0)
      or not pg_try_advisory_xact_lock(hashtextextended(in_survey::text, 0))
    then
      in_slot := own_slot;
    end if;
    perform add_to_survey_tallies(
      array[(in_org, in_survey, null, promoter, passive, detractor, in_score, 0, 0, in_contact)::tally_delta], in_slot);
  end if;

  update day_tallies
  set promoters = promoters + promoter, passives = passives + passive, detractors = detractors + detractor,
      score_sum = score_sum + in_score, by_half_hour = null
  where org_id = in_org and survey_id = in_survey and day = in_day and slot = in_slot;
  if not found then
    perform add_to_day_tallies(
      array[(in_org, in_survey, in_day, promoter, passive, detractor, in_score, 0, 0, 0)::tally_delta], in_slot);
  end if;

  if in_asked is not null then
    update asked_tallies
    set asked = asked + in_asked.asked, undelivered = undelivered + in_asked.undelivered,
        answered = answered + in_asked.answered
    where org_id = in_org and survey_id = in_survey and quarter = in_asked.quarter and slot = in_slot;
    if not found then perform add_to_asked_tallies(array[in_asked], in_slot); end if;
  end if;

  in_slot := 0;
  update organization_day_tallies t
  set promoters = promoters + promoter, passives = passives + passive, detractors = detractors + detractor,
      by_half_hour = null
  from (select org_id as id from organization_day_tallies where org_id = in_org and day = in_day and slot = 0
        for no key update skip locked) free
  where t.org_id = free.id and t.day = in_day and t.slot = 0;
  if found then return in_slot; end if;
  if exists (select from organization_day_tallies where org_id = in_org and day = in_day and slot = 0)
    or not pg_try_advisory_xact_lock(hashtextextended(in_org || ' ' || in_day, 0))
  then
    in_slot := own_slot;
  end if;
  perform add_to_organization_day_tallies(
    array[(in_org, null, in_day, promoter, passive, detractor, in_score, 0, 0, 0)::tally_delta], in_slot);
  return in_slot;
end
$$;

-- While `record_response` writes, `askback.counted` says that it counts by itself what it writes. Postgres reads the
-- condition of a trigger from its text at each statement: a function in it would cost three times as much.

drop trigger responses_added on responses;
create trigger responses_added after insert on responses
  referencing new table as changed for each statement when (current_setting('askback.counted', true) is distinct from 'yes')
  execute function tally_responses('1');
drop trigger contacts_changed on contacts;
create trigger contacts_changed after update on contacts
  referencing old table as old_rows new table as new_rows for each statement when (current_setting('askback.counted', true) is distinct from 'yes')
  execute function tally_contacts_progress();

-- `record_responses` takes at most so many.
create function most_responses_at_once() returns integer
language sql immutable parallel safe
return 50;

-- How many responses to one survey can be written and not committed: one in each connection, and in one of them many.
create function most_uncommitted_responses() returns integer
language sql stable parallel safe
return current_setting('max_connections')::integer + most_responses_at_once();

-- Records the response to a survey, marks its contact and adds it to the totals, in one call. The outcome is
--   recorded:  done, and it was not the survey's last;
--   refused:   the survey takes no responses, or none on this scale any more;
--   taken:     there is a response of this contact, which may be on hold: nothing is done;
--   last:      it may be the survey's last: nothing is done, the caller completes the survey with it;
--   again:     many answered meanwhile: nothing is done, call again in another transaction.
--
-- The last response must be recognized although others are being committed. A response that finds more contacts
-- left than there can be uncommitted responses is not the last, whatever becomes of the others: it holds the survey's row FOR
-- KEY SHARE, as its foreign key does anyway, and waits for no other response. One that finds fewer takes the row FOR
-- UPDATE, waits for all that hold it, and sees them. So no response overlooks the one before it, and only the last
-- few of a survey wait for each other's commit. A lock is never upgraded: two that do would wait for each other.
create function record_response(
  in_org uuid, in_survey uuid, in_contact uuid, in_id uuid, in_source text, in_score smallint, in_category text,
  in_comment text, in_held text, in_traceparent text, in_at timestamptz, in_type text, in_language text,
  in_properties jsonb
) returns text
language plpgsql
as $$
declare
  counts constant boolean := in_held is null;
  most_at_once constant integer := most_uncommitted_responses();
  may_be_last boolean := false;
  newly_responded integer := 0;
  open_contacts bigint;
  before contacts%rowtype;
  asked asked_delta;
  -- What these functions return is assigned, and not selected: that takes no executor.
  setting text;
  slot smallint;
begin
  if counts and in_contact is not null then
    select sum(contacts - responded) into open_contacts
    from survey_tallies where org_id = in_org and survey_id = in_survey;
    may_be_last := open_contacts <= most_at_once;
  end if;

  if may_be_last then
    perform from surveys
    where org_id = in_org and id = in_survey and type = in_type and (status = 'active' or completed_by = 'answers')
    for update;
  else
    perform from surveys
    where org_id = in_org and id = in_survey and type = in_type and (status = 'active' or completed_by = 'answers')
    for key share;
  end if;
  if not found then return 'refused'; end if;

  if counts and in_contact is not null then
    select sum(contacts - responded) into open_contacts
    from survey_tallies where org_id = in_org and survey_id = in_survey;
    if may_be_last and open_contacts <= 1 then return 'last'; end if;
    if not may_be_last and open_contacts <= most_at_once then return 'again'; end if;
  end if;

  if counts and in_contact is not null then
    select * into before
    from contacts
    where org_id = in_org and survey_id = in_survey and id = in_contact
    for no key update;
  end if;
  setting := set_config('askback.counted', 'yes', true);
  insert into responses (org_id, survey_id, contact_id, id, source, score, category, comment, held_reason,
                         traceparent, created_at, language, properties)
  values (in_org, in_survey, in_contact, in_id, in_source, in_score, in_category, in_comment, in_held,
          in_traceparent, in_at, in_language, in_properties)
  on conflict (contact_id) where source = 'link' do nothing;
  if not found then
    setting := set_config('askback.counted', '', true);
    return 'taken';
  end if;

  if counts then
    if in_contact is not null then
      newly_responded := (before.responded_at is null)::integer;
      if before.sent_at is not null then
        asked := (in_org, in_survey, quarter_of(before.sent_at), 0,
                  - is_undelivered(before.status)::integer, newly_responded);
      end if;
      update contacts
      set status = 'responded', responded_at = in_at, updated_at = now()
      where org_id = in_org and survey_id = in_survey and id = in_contact;
      if before.properties <> '{}' then
        insert into response_facets (org_id, facet, created_at, response_id, survey_id, category, score)
        select in_org, facet, in_at, in_id, in_survey, in_category, in_score
        from property_facets(before.properties) facet;
      end if;
    elsif in_properties is not null then
      insert into response_facets (org_id, facet, created_at, response_id, survey_id, category, score)
      select in_org, facet, in_at, in_id, in_survey, in_category, in_score
      from property_facets(in_properties) facet;
    end if;
    slot := count_response(
      in_org, in_survey, (in_at at time zone 'UTC')::date, in_category, in_score, newly_responded, asked);
  end if;
  setting := set_config('askback.counted', '', true);
  return 'recorded';
end
$$;
