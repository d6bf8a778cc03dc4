-- A survey, the people it is sent to, and what they answered.

create extension if not exists pg_trgm;
create extension if not exists btree_gin;

create table surveys (
  id            uuid primary key default gen_random_uuid(),
  org_id        uuid not null references organizations (id) on delete cascade,
  type          text not null default 'nps' check (type in ('nps', 'csat', 'ces', 'star5', 'thumbs')),
  audience      text check (audience = 'employee'),
  name          text not null check (char_length(name) between 1 and 200),
  question_text text not null,
  subject       text,                                -- of the mail; without one it is the question
  language      text not null default 'en',
  from_name     text not null,
  from_email    text not null,
  reply_to      text not null,
  status        text not null default 'active' check (status in ('draft', 'active', 'completed')),
  completed_by  text check (completed_by in ('answers', 'hand')),
  completed_at  timestamptz,
  share_id      text not null unique,
  created_at    timestamptz not null default now(),
  updated_at    timestamptz not null default now(),

  check ((status = 'completed') = (completed_by is not null)),
  -- Lets child rows carry org_id and have Postgres prove that it is the right one.
  unique (org_id, id)
);

create index surveys_newest_first on surveys (org_id, created_at desc, id desc);

create table contacts (
  id             uuid primary key default gen_random_uuid(),
  org_id         uuid not null,
  survey_id      uuid not null,
  email          text not null,
  name           text,
  properties     jsonb not null default '{}',
  status         text not null default 'pending'
    check (status in ('pending', 'sending', 'sent', 'responded', 'failed', 'bounced', 'unsubscribed')),
  failure_reason text,
  token          text not null unique,
  sent_at        timestamptz,
  responded_at   timestamptz,
  created_at     timestamptz not null default now(),
  updated_at     timestamptz not null default now(),

  foreign key (org_id, survey_id) references surveys (org_id, id) on delete cascade,
  unique (org_id, survey_id, id)
);

-- One row per address and survey, whatever its case.
create unique index contacts_one_per_email on contacts (survey_id, lower(email));
create index contacts_newest_first on contacts (org_id, created_at desc, id desc);
create index contacts_by_email on contacts (org_id, lower(email));
create index contacts_search on contacts using gin (org_id, (email || ' ' || coalesce(name, '')) gin_trgm_ops);

-- An answer. One that a machine seems to have given is held: it can be seen, and counts nowhere.
create table responses (
  id            uuid not null default gen_random_uuid(),
  org_id        uuid not null,
  survey_id     uuid not null,
  contact_id    uuid,
  source        text not null default 'link' check (source in ('link', 'share', 'import')),
  score         smallint not null check (score between 0 and 10),   -- on the survey's own scale
  category      text not null check (category in ('promoter', 'passive', 'detractor')),
  comment       text check (char_length(comment) <= 5000),
  held_reason   text,
  traceparent   text,
  created_at    timestamptz not null default now(),

  primary key (org_id, id),
  foreign key (org_id, survey_id) references surveys (org_id, id) on delete cascade,
  foreign key (org_id, survey_id, contact_id) references contacts (org_id, survey_id, id) on delete cascade
);

-- A contact answers once through its link; what was imported may be the history of years.
create unique index responses_one_per_contact on responses (contact_id) where source = 'link';
create index responses_by_contact on responses (contact_id);
create index responses_newest_first on responses (org_id, created_at desc, id desc) where held_reason is null;
create index responses_by_survey on responses (org_id, survey_id, created_at desc, id desc) where held_reason is null;
create index responses_by_category on responses (org_id, category, created_at desc, id desc) where held_reason is null;
create index responses_by_survey_and_category on responses (org_id, survey_id, category, created_at desc, id desc) where held_reason is null;
create index responses_held on responses (org_id, created_at desc, id desc) where held_reason is not null;
create index responses_search on responses using gin (org_id, comment gin_trgm_ops) where comment is not null;

-- Each opening of a personal link: what an answer is judged by. No address, no user agent.
create table openings (
  id         bigint generated always as identity primary key,
  org_id     uuid not null,
  survey_id  uuid not null,
  contact_id uuid not null,
  kind       text not null check (kind in ('view', 'trap', 'post')),
  method     text not null,
  score      smallint,
  opened_at  timestamptz not null default now(),

  foreign key (org_id, survey_id, contact_id) references contacts (org_id, survey_id, id) on delete cascade
);

create index openings_by_contact on openings (contact_id, opened_at desc);
create index openings_by_age on openings (opened_at);

create table tags (
  id         uuid primary key default gen_random_uuid(),
  org_id     uuid not null references organizations (id) on delete cascade,
  name       text not null check (char_length(name) between 1 and 200),
  color      text not null check (color ~ '^#[0-9A-Fa-f]{6}$'),
  created_at timestamptz not null default now()
);

create unique index tags_one_per_name on tags (org_id, name);

-- As an answer shows a time: UTC, to the millisecond.
create function iso(moment timestamptz) returns text
language sql stable
return to_char(moment at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');

-- The same to the microsecond: a list must go on exactly where it stopped.
create function iso_exact(moment timestamptz) returns text
language sql stable
return to_char(moment at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"');
