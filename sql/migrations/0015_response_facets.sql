-- What is done with responses after they came in, and what lists and totals of them are filtered by.

alter table responses add constraint responses_have_members_as_owners
  foreign key (org_id, owner_id) references memberships (org_id, member_id) on delete set null (owner_id);

create table response_tags (
  org_id      uuid not null,
  response_id uuid not null,
  tag_id      uuid not null,
  created_at  timestamptz not null default now(),

  primary key (org_id, response_id, tag_id),
  foreign key (org_id, response_id) references responses (org_id, id) on update cascade on delete cascade,
  constraint response_tags_are_tags foreign key (org_id, tag_id) references tags (org_id, id) on delete cascade
);

comment on table response_tags is 'A tag on a response';
comment on column response_tags.created_at is 'when it was tagged';

create index response_tags_by_tag on response_tags (org_id, tag_id);

create table response_notes (
  id          uuid primary key default gen_random_uuid(),
  org_id      uuid not null,
  response_id uuid not null,
  text        text not null check (char_length(text) between 1 and 5000),
  author      text not null,
  author_kind text not null,
  created_at  timestamptz not null default now(),

  constraint response_notes_belong_to_response foreign key (org_id, response_id)
    references responses (org_id, id) on update cascade on delete cascade
);

comment on table response_notes is 'A note that was written about a response';
comment on column response_notes.text is 'the note';
comment on column response_notes.author is 'name of the member or the key that wrote it, as it was then';
comment on column response_notes.author_kind is 'kind of that actor, as in the audit';

create index response_notes_by_response on response_notes (org_id, response_id, created_at);

-- Facets. A response has one for each property of its contact, for each of its tags and for its sentiment. Lists and
-- totals by any of these read one range of one index, however many responses there are, and never the responses.
-- What is on hold has none: it counts nowhere.

create table response_facets (
  org_id      uuid not null,
  facet       bigint not null,
  created_at  timestamptz not null,
  response_id uuid not null,
  survey_id   uuid not null,
  category    text not null,
  score       smallint not null,

  primary key (org_id, facet, created_at, response_id) include (survey_id, category, score),
  foreign key (org_id, response_id) references responses (org_id, id) on delete cascade
);

comment on table response_facets is
  'A property of the contact or of the website, a tag or the sentiment of a response that counts: what responses are found by';
comment on column response_facets.facet is 'hash of kind, name and value: see the function facet_of';
comment on column response_facets.created_at is 'of the response, as are survey_id, category and score';
comment on column response_facets.category is 'that of the response';
comment on column response_facets.survey_id is 'that of the response';
comment on column response_facets.score is 'that of the response';

create index response_facets_by_response on response_facets (org_id, response_id);
-- Counts all responses with a facet in half of the time: its equal entries take a few bytes each.
create index response_facets_counted on response_facets (org_id, facet, category);

create function facet_of(kind text, name text, value text) returns bigint
language sql immutable parallel safe
return ('x' || left(md5(kind || ' ' || octet_length(name) || ' ' || name || value), 16))::bit(64)::bigint;

-- A string is found by its text, any other value by its JSON.
create function property_facets(properties jsonb) returns setof bigint
language sql immutable parallel safe
begin atomic
  select distinct facet_of('property', key, coalesce(value, 'null')) from jsonb_each_text(properties);
end;

-- All facets of one response.
create function add_facets(in_org uuid, in_response uuid) returns void
language sql
begin atomic
  insert into response_facets (org_id, facet, created_at, response_id, survey_id, category, score)
  select r.org_id, facet, r.created_at, r.id, r.survey_id, r.category, r.score
  from responses r
  cross join lateral (
    select property_facets(c.properties)
    from contacts c
    where c.org_id = r.org_id and c.survey_id = r.survey_id and c.id = r.contact_id
    union
    select property_facets(r.properties)
    where r.contact_id is null and r.properties is not null
    union
    select facet_of('tag', '', t.tag_id::text)
    from response_tags t
    where t.org_id = r.org_id and t.response_id = r.id
    union
    select facet_of('sentiment', '', a.sentiment)
    from analyses a
    where a.org_id = r.org_id and a.response_id = r.id and a.sentiment is not null
  ) f (facet)
  where r.org_id = in_org and r.id = in_response and r.held_reason is null
  on conflict do nothing;
end;

create function facet_added_responses() returns trigger
language plpgsql
as $$
begin
  insert into response_facets (org_id, facet, created_at, response_id, survey_id, category, score)
  select r.org_id, facet, r.created_at, r.id, r.survey_id, r.category, r.score
  from changed r
  join contacts c on c.org_id = r.org_id and c.survey_id = r.survey_id and c.id = r.contact_id
  cross join lateral property_facets(c.properties) facet
  where r.held_reason is null and c.properties <> '{}'
  union all
  select r.org_id, facet, r.created_at, r.id, r.survey_id, r.category, r.score
  from changed r
  cross join lateral property_facets(r.properties) facet
  where r.held_reason is null and r.contact_id is null and r.properties is not null;
  return null;
end
$$;

create trigger responses_added_facets after insert on responses
  referencing new table as changed for each statement
  execute function facet_added_responses();

create function facet_changed_response() returns trigger
language plpgsql
as $$
begin
  delete from response_facets where org_id = old.org_id and response_id in (old.id, new.id);
  perform add_facets(new.org_id, new.id);
  return null;
end
$$;

create trigger responses_changed_facets
  after update of held_reason, created_at, category, score, contact_id, survey_id, properties on responses
  for each row when (
    (old.held_reason, old.created_at, old.category, old.score, old.contact_id, old.survey_id, old.properties)
    is distinct from
    (new.held_reason, new.created_at, new.category, new.score, new.contact_id, new.survey_id, new.properties))
  execute function facet_changed_response();

create function facet_changed_contact() returns trigger
language plpgsql
as $$
begin
  delete from response_facets f
  using responses r
  where r.contact_id = new.id and r.org_id = new.org_id
    and f.org_id = r.org_id and f.response_id = r.id
    and f.facet in (select property_facets(old.properties) except select property_facets(new.properties));
  perform add_facets(r.org_id, r.id)
  from responses r
  where r.contact_id = new.id and r.org_id = new.org_id and r.held_reason is null;
  return null;
end
$$;

create trigger contacts_changed_facets after update of properties on contacts
  for each row when (old.properties is distinct from new.properties)
  execute function facet_changed_contact();

create function facet_tagged_response() returns trigger
language plpgsql
as $$
begin
  if tg_op = 'DELETE' then
    delete from response_facets
    where org_id = old.org_id and response_id = old.response_id and facet = facet_of('tag', '', old.tag_id::text);
  else
    insert into response_facets (org_id, facet, created_at, response_id, survey_id, category, score)
    select org_id, facet_of('tag', '', new.tag_id::text), created_at, id, survey_id, category, score
    from responses
    where org_id = new.org_id and id = new.response_id and held_reason is null
    on conflict do nothing;
  end if;
  return null;
end
$$;

create trigger response_tags_changed after insert or delete on response_tags
  for each row execute function facet_tagged_response();

create function facet_analyzed_response() returns trigger
language plpgsql
as $$
begin
  if tg_op = 'UPDATE' then
    delete from response_facets
    where org_id = old.org_id and response_id = old.response_id and facet = facet_of('sentiment', '', old.sentiment);
  end if;
  insert into response_facets (org_id, facet, created_at, response_id, survey_id, category, score)
  select org_id, facet_of('sentiment', '', new.sentiment), created_at, id, survey_id, category, score
  from responses
  where org_id = new.org_id and id = new.response_id and held_reason is null and new.sentiment is not null
  on conflict do nothing;
  return null;
end
$$;

create trigger analyses_added after insert on analyses
  for each row execute function facet_analyzed_response();
create trigger analyses_changed after update of sentiment on analyses
  for each row when (old.sentiment is distinct from new.sentiment) execute function facet_analyzed_response();

-- Of a response that is deleted with its analysis nothing is found here: all its facets go with it.
create function facet_unanalyzed_responses() returns trigger
language plpgsql
as $$
begin
  delete from response_facets f
  using changed a
  join responses r on r.org_id = a.org_id and r.id = a.response_id
  where f.org_id = a.org_id and f.facet = facet_of('sentiment', '', a.sentiment)
    and f.created_at = r.created_at and f.response_id = r.id;
  return null;
end
$$;

create trigger analyses_removed after delete on analyses
  referencing old table as changed for each statement execute function facet_unanalyzed_responses();
