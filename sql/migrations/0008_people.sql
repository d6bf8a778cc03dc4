-- The people directory: one row per address of an organization, on whichever surveys it is.
--
-- The statement that saves contacts updates their people too. A person stays when its contacts are deleted.

create table people (
  id         uuid not null default id_at(clock_timestamp()),
  org_id     uuid not null,
  email      text not null,
  email_key  text not null generated always as (lower(email)) stored,
  name       text,
  properties jsonb not null default '{}' check (jsonb_typeof(properties) = 'object'),
  language   text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),

  primary key (org_id, id),
  constraint people_one_per_email unique (org_id, email_key),
  constraint people_belong_to_organization foreign key (org_id) references organizations (id) on delete cascade
);

comment on table people is
  'A person of an organization: the latest name and properties of an address';
comment on column people.id is 'begins with the creation time, so that new rows are adjacent in indexes';
comment on column people.email is 'as first entered';
comment on column people.email_key is 'the address in lower case, to compare addresses';
comment on column people.name is 'the latest name';
comment on column people.properties is 'the latest value of each property';
comment on column people.language is 'the latest language, a property of this name or set by itself';
comment on column people.updated_at is 'time of the latest values: the import of an older answer does not replace them';

create index people_newest_first on people (org_id, created_at desc, id desc);
create index people_search on people using gin (org_id, (email || ' ' || coalesce(name, '')) gin_trgm_ops);
create index people_by_property on people using gin (org_id, properties jsonb_path_ops);

create trigger people_are_not_erased after insert on people
  referencing new table as changed for each statement execute function refuse_erased_contacts();
create trigger people_hide_erased before insert or update of name, properties on people
  for each row when (new.name like '%@%' or new.properties::text like '%@%')
  execute function hide_erased_in_contact();

-- Existing contacts. Of several values of a property, the latest counts.
insert into people (org_id, email, name, properties, language, created_at, updated_at)
select org_id, email, name, properties,
       case when jsonb_typeof(properties -> 'language') = 'string' then nullif(trim(properties ->> 'language'), '') end,
       created_at, updated_at
from (
  select c.org_id, (array_agg(c.email order by c.created_at, c.id))[1] as email,
         (array_agg(c.name order by c.updated_at desc, c.id) filter (where c.name is not null))[1] as name,
         (select coalesce(jsonb_object_agg(key, value order by place), '{}')
          from unnest(array_agg(c.properties order by c.updated_at, c.id)) with ordinality as of_contact (fields, place)
          cross join lateral jsonb_each(fields)) as properties,
         min(c.created_at) as created_at, max(c.updated_at) as updated_at
  from contacts c
  group by c.org_id, c.email_key
) merged;

-- A text as a number, null if it is none. A count of digits in the pattern would take twice the time.
create function number_in(said text) returns numeric
language sql immutable parallel safe
return case when octet_length(said) <= 62 and said ~ '^-?[0-9]+(\.[0-9]+)?$' then said::numeric end;

-- Segments select people by their properties and history.

create table segments (
  id         uuid not null default gen_random_uuid(),
  org_id     uuid not null,
  name       text not null check (char_length(name) between 1 and 200),
  filter     jsonb not null check (jsonb_typeof(filter -> 'all') = 'array'),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),

  primary key (org_id, id),
  constraint segments_belong_to_organization foreign key (org_id) references organizations (id) on delete cascade
);

comment on table segments is 'A filter of people under a name';
comment on column segments.name is 'as members choose it';
comment on column segments.filter is 'conditions that all hold: an array `all` of field, op and value';

create index segments_newest_first on segments (org_id, created_at desc, id desc);

create view askback_reports.people with (security_barrier) as
  select p.id, p.email, p.name, p.properties, p.language, p.created_at, p.updated_at
  from people p
  where p.org_id = (select askback_reports.own_organization())
  offset 0;
