-- Sets of responses, so that filters which many responses meet are combined in no time: for each day that is over, and
-- for each facet, one bit for each response of the day. As half hours are, they are counted after the day, from its
-- responses, and only where these are at least 24: an answer writes nothing for them. When they are valid says
-- 0050_facet_tallies.sql.

create table facet_days (
  org_id uuid not null references organizations (id) on delete cascade,
  day    date not null,
  ids    bytea not null,

  primary key (org_id, day)
);

comment on table facet_days is 'Responses of a day in their order: what the bits of facet_day_bits stand for';
comment on column facet_days.day is 'of created_at, UTC';
comment on column facet_days.ids is 'of all that count, 16 bytes each, newest first';

-- A page takes a few ids out of many.
alter table facet_days alter ids set storage external;

create table facet_day_bits (
  org_id uuid not null references organizations (id) on delete cascade,
  facet  bigint not null,
  day    date not null,
  bits   varbit not null,

  primary key (org_id, facet, day)
);

comment on table facet_day_bits is
  'Which responses of a day have a facet: those of response_facets, where these are at least 8, and those of columns';
comment on column facet_day_bits.facet is 'hash of kind, name and value, as in response_facets';
comment on column facet_day_bits.day is 'of created_at, UTC';
comment on column facet_day_bits.bits is 'one for each response of the day, newest first';

create index facet_day_bits_by_day on facet_day_bits (org_id, day);

create function facet_days_of(in_org uuid, days date[]) returns setof facet_days
language sql stable
begin atomic
  select in_org, d, string_agg(uuid_send(r.id), ''::bytea order by r.created_at desc, r.id desc)
  from unnest(days) d
  cross join lateral (
    select id, created_at
    from responses
    where org_id = in_org and held_reason is null
      and created_at >= d::timestamp at time zone 'UTC' and created_at < (d + 1)::timestamp at time zone 'UTC'
    offset 0 -- those of these days, and never all of the organization
  ) r
  group by d
  having count(*) >= 24;
end;

-- Bits are collected in words of 64: a bit for each response of each facet would be moved about too often.
create function facet_bits_of(in_org uuid, days date[]) returns setof facet_day_bits
language sql stable
set work_mem = '64MB'
set jit = off
begin atomic
  with placed as (
    select d as day, (row_number() over (partition by d order by r.created_at desc, r.id desc) - 1)::integer as place, r.*
    from unnest(days) d
    cross join lateral (
      select id, created_at, survey_id, category, comment is not null as commented, language, state, owner_id
      from responses
      where org_id = in_org and held_reason is null
        and created_at >= d::timestamp at time zone 'UTC' and created_at < (d + 1)::timestamp at time zone 'UTC'
      offset 0
    ) r
  ), words as (
    select day, null as kind, null as value, facet, place / 64 as word, bit_or(1::bigint << 63 - place % 64) as bits
    from placed
    cross join lateral (
      select facet from response_facets where org_id = in_org and response_id = placed.id offset 0
    ) f
    group by day, facet, place / 64
    union all
    select day, kind, value, null, place / 64, bit_or(1::bigint << 63 - place % 64)
    from placed
    join surveys s on s.org_id = in_org and s.id = placed.survey_id
    cross join lateral (
      values ('category', category), ('survey', placed.survey_id::text), ('type', s.type),
             ('employees', case s.audience when 'employee' then '' end), ('comment', case when commented then '' end),
             ('language', placed.language), ('state', state), ('owner', owner_id::text),
             ('owned', case when owner_id is not null then '' end)
    ) v (kind, value)
    where value is not null
    group by day, kind, value, place / 64
  ), sets as (
    select day, kind, value, facet, array_agg(bits order by word) as bits, array_agg(word order by word) as words
    from words
    group by day, kind, value, facet
    having kind is not null or sum(bit_count(bits::bit(64))) >= 8
  ), sizes as (
    select day, max(place) + 1 as many from placed group by day having count(*) >= 24
  )
  select in_org, coalesce(facet, facet_of(kind, '', value)), day, left(texts.bits, many)::varbit
  from sets
  join sizes using (day)
  cross join lateral (
    select string_agg(coalesce(given.bits, 0)::bit(64)::text, '' order by n) as bits
    from generate_series(0, (many - 1) / 64) n
    left join unnest(sets.words, sets.bits) as given (word, bits) on given.word = n
  ) texts;
end;
