-- What contacts answered.

create table responses (
  id            uuid not null default gen_random_uuid(),
  org_id        uuid not null,
  survey_id     uuid not null,
  contact_id    uuid,
  source        text not null default 'link' check (source in ('link', 'share', 'import')),
  score         smallint not null check (score between 0 and 10),
  category      text not null check (category in ('promoter', 'passive', 'detractor')),
  comment       text check (char_length(comment) <= 5000),
  language      text,
  properties    jsonb check (jsonb_typeof(properties) = 'object'),
  held_reason   text,
  chosen_state  text check (chosen_state in ('none', 'open', 'done')),
  state         text generated always as (
    nullif(coalesce(chosen_state, case when category = 'detractor' then 'open' end), 'none')) stored,
  owner_id      uuid,
  traceparent   text,
  created_at    timestamptz not null default now(),

  primary key (org_id, id),
  foreign key (org_id, survey_id) references surveys (org_id, id) on delete cascade,
  constraint responses_belong_to_contact
    foreign key (org_id, survey_id, contact_id) references contacts (org_id, survey_id, id) on delete cascade
);

comment on table responses is
  'A response to a survey. One that a machine seems to have given is on hold: it is listed apart, and counts nowhere';
comment on column responses.contact_id is 'whose personal link it came through; without one the shareable link';
comment on column responses.source is 'link: personal; share: shareable; import: brought in from elsewhere';
comment on column responses.score is 'on the survey''s own scale';
comment on column responses.category is 'what the score counts as';
comment on column responses.comment is 'what was written with the score';
comment on column responses.language is 'of the page it was given on; unknown for what was imported';
comment on column responses.properties is 'what the website that showed the survey handed in; a contact has its own';
comment on column responses.held_reason is 'why it is on hold; without a reason it counts';
comment on column responses.chosen_state is 'the state that was set by hand; without one the category decides';
comment on column responses.state is 'of following it up: open or done; a detractor is open from the start, others have none';
comment on column responses.owner_id is 'the member who follows it up';
comment on column responses.traceparent is 'the trace of the request that recorded it';

-- A contact answers once through its link; what was imported may be the history of years.
create unique index responses_one_per_contact on responses (contact_id) where source = 'link';
create index responses_by_contact on responses (contact_id);
create index responses_newest_first on responses (org_id, created_at desc, id desc) where held_reason is null;
create index responses_by_survey on responses (org_id, survey_id, created_at desc, id desc) include (score) where held_reason is null;
create index responses_by_category on responses (org_id, category, created_at desc, id desc) where held_reason is null;
create index responses_by_survey_and_category on responses (org_id, survey_id, category, created_at desc, id desc) where held_reason is null;
create index responses_held on responses (org_id, created_at desc, id desc) where held_reason is not null;
create index responses_commented on responses (org_id, created_at desc, id desc) include (survey_id, category) where held_reason is null and comment is not null;
create index responses_by_language on responses (org_id, language, created_at desc, id desc) include (survey_id, category) where held_reason is null and language is not null;
create index responses_by_state on responses (org_id, state, created_at desc, id desc) include (survey_id, category, owner_id) where held_reason is null and state is not null;
create index responses_by_owner on responses (org_id, owner_id, created_at desc, id desc) where owner_id is not null;
create index responses_handed_in on responses (org_id) where properties is not null;
create index responses_search on responses using gin (org_id, comment gin_trgm_ops) where comment is not null;

create table link_visits (
  id         uuid not null default gen_random_uuid(),
  org_id     uuid not null,
  survey_id  uuid not null,
  contact_id uuid not null,
  kind       text not null check (kind in ('view', 'trap', 'post')),
  method     text not null,
  score      smallint,
  visited_at timestamptz not null default now(),

  primary key (contact_id, visited_at, id),
  constraint visits_belong_to_contact
    foreign key (org_id, survey_id, contact_id) references contacts (org_id, survey_id, id) on delete cascade
);

comment on table link_visits is
  'A visit of a personal link: what a submission is judged by. No address, no user agent';
comment on column link_visits.kind is 'view: the page; trap: the hidden link; post: a submission';
comment on column link_visits.method is 'of the HTTP request';
comment on column link_visits.score is 'the score that the link carried';
comment on column link_visits.visited_at is 'when it was asked for';

-- By the day and not the time, so that no plan reads the visits of the last minute by it instead of by their contact.
create index link_visits_by_day on link_visits (((visited_at at time zone 'UTC')::date));

