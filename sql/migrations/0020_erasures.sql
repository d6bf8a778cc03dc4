-- Persons who were erased. Of an address only its keyed hash is left: enough to recognize it when it comes again.

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

comment on table erasures is
  'The receipt of an erasure. As long as the address is not allowed again, nothing is stored for it';
comment on column erasures.address_hash is 'keyed hash of the address in lower case: see the function keyed_hash';
comment on column erasures.scores is 'kept: as anonymous responses; deleted: with everything else';
comment on column erasures.counts is 'how many rows of each kind were deleted or emptied';
comment on column erasures.erased_at is 'when the person was erased';
comment on column erasures.allowed_at is 'when an owner allowed the address again';
comment on column erasures.filed_at is 'when this row, as it is now, was appended to the file of erasures';

create unique index erasures_in_force on erasures (org_id, address_hash) where allowed_at is null;
create index erasures_newest_first on erasures (org_id, erased_at desc, id desc);
create index erasures_to_file on erasures (erased_at) where filed_at is null;

-- An erasure waits until all that adds contacts of the organization has committed, and what adds contacts waits for an
-- erasure. It is held before the lock of a survey, so that the two never wait for each other.
create function hold_off_erasures(in_org uuid) returns void
language sql
return pg_advisory_xact_lock_shared(hashtextextended('erasures ' || in_org, 0));

create function begin_erasure(in_org uuid) returns void
language sql
return pg_advisory_xact_lock(hashtextextended('erasures ' || in_org, 0));

-- The last resort: verbs that add contacts leave erased addresses out or refuse them before.
create function refuse_erased_contacts() returns trigger
language plpgsql
as $$
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
end
$$;

create trigger contacts_are_not_erased after insert on contacts
  referencing new table as changed for each statement execute function refuse_erased_contacts();

-- What others write of a person stays without the address: in comments, notes, names and properties `[email]` takes its
-- place, when the person is erased and in whatever is written later.

-- The addresses in a text or in JSON as Postgres writes it, in lower case: each as it stands there, and from the last
-- character on that an address rarely has.
create function addresses_in(said text) returns setof text
language sql immutable parallel safe
begin atomic
  select distinct lower(address)
  from regexp_matches(
         said, '(?:\\[bfnrt])?([a-z0-9!#$%&''*+/=?^_`{|}~.-]+@[a-z0-9-]+(?:\.[a-z0-9-]+)+)', 'gi') as found
  cross join unnest(array[found[1], substring(found[1] from '[A-Za-z0-9._%+-]+@.*$')]) as address;
end;

-- The same pattern as patternOfAddress in the program.
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
end
$$;

create function hide_erased_in_comment() returns trigger
language plpgsql
as $$
begin
  new.comment := hide_erased(new.org_id, new.comment);
  return new;
end
$$;

create function hide_erased_in_note() returns trigger
language plpgsql
as $$
begin
  new.text := hide_erased(new.org_id, new.text);
  return new;
end
$$;

create function hide_erased_in_contact() returns trigger
language plpgsql
as $$
begin
  new.name := hide_erased(new.org_id, new.name);
  new.properties := hide_erased(new.org_id, new.properties::text)::jsonb;
  return new;
end
$$;

create trigger comments_hide_erased before insert or update of comment on responses
  for each row when (new.comment like '%@%') execute function hide_erased_in_comment();
create trigger notes_hide_erased before insert or update of text on response_notes
  for each row when (new.text like '%@%') execute function hide_erased_in_note();
create trigger contacts_hide_erased before insert or update of name, properties on contacts
  for each row when (new.name like '%@%' or new.properties::text like '%@%')
  execute function hide_erased_in_contact();
