create table surveys (
  id            uuid primary key default gen_random_uuid(),
  org_id        uuid not null,
  type          text not null default 'nps' check (type in ('nps', 'csat', 'ces', 'star5', 'thumbs')),
  audience      text check (audience = 'employee'),
  name          text not null check (char_length(name) between 1 and 200),
  question_text text not null,
  subject       text,
  language      text not null default 'en',
  from_name     text not null,
  from_email    text not null,
  reply_to      text not null,
  intro         text,
  follow_up     jsonb check (jsonb_typeof(follow_up) in ('string', 'object')),
  thanks        jsonb check (jsonb_typeof(thanks) in ('string', 'object')),
  texts         jsonb not null default '{}' check (jsonb_typeof(texts) = 'object'),
  questions     jsonb not null default '[]' check (jsonb_typeof(questions) = 'array'),
  reminders     jsonb not null default '[]' check (jsonb_typeof(reminders) = 'array' and jsonb_array_length(reminders) <= 3),
  ask_after_days       integer check (ask_after_days between 0 and 365),
  ask_after_days_since timestamptz,
  send_window   jsonb check (jsonb_typeof(send_window) = 'object'),
  repeat        jsonb check (jsonb_typeof(repeat) = 'object'),
  repeat_since  timestamptz,
  embed         jsonb not null default '{"origins": []}' check (jsonb_typeof(embed -> 'origins') = 'array'),
  status        text not null default 'active' check (status in ('draft', 'active', 'completed')),
  completed_by  text check (completed_by in ('answers', 'hand')),
  completed_at  timestamptz,
  share_id      text not null unique,
  created_at    timestamptz not null default now(),
  updated_at    timestamptz not null default now(),

  check ((status = 'completed') = (completed_by is not null)),
  check ((ask_after_days is null) = (ask_after_days_since is null)),
  check ((repeat is null) = (repeat_since is null)),
  constraint surveys_belong_to_organization foreign key (org_id) references organizations (id) on delete cascade,
  -- Lets foreign keys of child tables include org_id, so that Postgres checks it.
  unique (org_id, id)
);

comment on table surveys is 'One question to many contacts';
comment on column surveys.type is 'the scale of the score';
comment on column surveys.audience is 'employee for a survey of employees';
comment on column surveys.name is 'for members, not for contacts';
comment on column surveys.subject is 'subject of the mail. Null for the question';
comment on column surveys.language is 'of its pages and mails, as a BCP 47 tag';
comment on column surveys.intro is 'text before the question in the mail, with placeholders';
comment on column surveys.follow_up is 'the question above the comment: text, or an object with a text for each category';
comment on column surveys.thanks is
  'what its page says after an answer: text, or an object by category with text, link_url and link_text';
comment on column surveys.texts is 'its texts in other languages, by tag: question_text, subject, intro, follow_up, thanks';
comment on column surveys.questions is 'follow-up questions in their order, archived ones last: see src/questions/definition.ts';
comment on column surveys.reminders is
  'mails to contacts that have not answered: an array of after_days and subject, in the order of the days';
comment on column surveys.ask_after_days is 'days until a new contact is mailed automatically';
comment on column surveys.ask_after_days_since is 'when ask_after_days was set. Days of older contacts count from this time';
comment on column surveys.send_window is
  'when campaigns, reminders and automatic sends may run: days, from, to, time_zone. Null for always';
comment on column surveys.repeat is 'rounds: every_days, audience, per_day, spread. Null if contacts are asked once';
comment on column surveys.repeat_since is
  'when every_days, audience or spread was set. Contacts that were due earlier are spread from this time';
comment on column surveys.embed is 'settings for websites: origins, position, delay_seconds, every_days';
comment on column surveys.completed_by is 'answers if all contacts have responded, hand if it was closed by hand';
comment on column surveys.share_id is 'the part of the shareable link that names it';

create index surveys_newest_first on surveys (org_id, created_at desc, id desc);

-- A contact's row changes when its mail is sent and when the contact responds. Free space in each page, and no index on
-- the status, keep these updates in the same page without index writes. A statement saves up to a hundred outcomes,
-- which may update every row of a page, so each row needs space for its next version.

create extension if not exists pg_trgm;
create extension if not exists btree_gin;

create table contacts (
  id             uuid primary key default id_at(clock_timestamp()),
  org_id         uuid not null,
  survey_id      uuid not null,
  email          text not null,
  email_key      text not null generated always as (lower(email)) stored,
  round          smallint not null default 1 check (round > 0),
  superseded     boolean not null default false,
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
) with (fillfactor = 50);

comment on table contacts is 'An address in one round of a survey, in which it is asked once';
comment on column contacts.superseded is 'true once a later round of the address has begun';
comment on column contacts.properties is 'custom fields that the organization keeps with the contact';
comment on column contacts.token is 'the part of the personal link that names the contact';
comment on column contacts.sent_at is 'when its first mail was accepted by the mail server';

-- One row per survey and address, ignoring case, and one for each of its earlier rounds.
create unique index contacts_one_per_email on contacts (survey_id, email_key) where not superseded;
create unique index contacts_one_per_round on contacts (survey_id, email_key, round) where superseded;
create index contacts_newest_first on contacts (org_id, created_at desc, id desc);
-- Indexes the id as text, so that a plan made for a small table does not use this index to find an address.
create index contacts_of_survey on contacts ((survey_id::text), created_at desc, id desc);
create index contacts_by_email on contacts (org_id, email_key);
create index contacts_search on contacts using gin (org_id, (email || ' ' || coalesce(name, '')) gin_trgm_ops);

-- The statement that saves contacts updates their people too. A person stays when its contacts are deleted.
create table people (
  id         uuid not null default id_at(clock_timestamp()),
  org_id     uuid not null references organizations (id) on delete cascade,
  email      text not null,
  email_key  text not null generated always as (lower(email)) stored,
  name       text,
  properties jsonb not null default '{}' check (jsonb_typeof(properties) = 'object'),
  language   text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),

  primary key (org_id, id),
  constraint people_one_per_email unique (org_id, email_key)
);

comment on table people is 'A person of an organization: the latest name and properties of an address';
comment on column people.email is 'as first entered';
comment on column people.properties is 'the latest value of each property';
comment on column people.language is 'the latest language, from a property of this name or set separately';
comment on column people.updated_at is 'time of the latest values: the import of an older answer does not replace them';

create index people_newest_first on people (org_id, created_at desc, id desc);
create index people_search on people using gin (org_id, (email || ' ' || coalesce(name, '')) gin_trgm_ops);
create index people_by_property on people using gin (org_id, properties jsonb_path_ops);

-- Replaces addresses of erased people, with a function of 0006_work.sql.
create function hide_erased_in_contact() returns trigger
language plpgsql as $$
begin
  new.name := hide_erased(new.org_id, new.name);
  new.properties := hide_erased(new.org_id, new.properties::text)::jsonb;
  return new;
end $$;

create trigger contacts_hide_erased before insert or update of name, properties on contacts
  for each row when (new.name like '%@%' or new.properties::text like '%@%')
  execute function hide_erased_in_contact();
create trigger people_hide_erased before insert or update of name, properties on people
  for each row when (new.name like '%@%' or new.properties::text like '%@%')
  execute function hide_erased_in_contact();

-- A text as a number, null if it is not a number. A count of digits in the pattern would take twice the time.
create function number_in(said text) returns numeric
language sql immutable parallel safe
return case when octet_length(said) <= 62 and said ~ '^-?[0-9]+(\.[0-9]+)?$' then said::numeric end;

create table segments (
  id         uuid not null default gen_random_uuid(),
  org_id     uuid not null references organizations (id) on delete cascade,
  name       text not null check (char_length(name) between 1 and 200),
  filter     jsonb not null check (jsonb_typeof(filter -> 'all') = 'array'),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),

  primary key (org_id, id)
);

comment on table segments is 'A filter of people under a name';
comment on column segments.filter is 'conditions that all hold: an array `all` of field, op and value';

create index segments_newest_first on segments (org_id, created_at desc, id desc);

create table contact_uploads (
  id          uuid primary key default gen_random_uuid(),
  org_id      uuid not null,
  survey_id   uuid not null,
  name        text not null,
  uploaded_by uuid,
  bytes       integer not null,
  delimiter   text not null,
  first_line  integer not null,
  has_header  boolean not null,
  rows        integer not null,
  added       integer,
  known       integer,
  repeated    integer,
  rejected    integer,
  created_at  timestamptz not null default now(),
  imported_at timestamptz,

  foreign key (org_id, survey_id) references surveys (org_id, id) on delete cascade,
  unique (org_id, id)
);

comment on table contact_uploads is
  'An uploaded or pasted list of contacts. It waits for a day, and is deleted a week after its import';
comment on column contact_uploads.name is 'name of the file';
comment on column contact_uploads.uploaded_by is 'the member, who can have one waiting list per survey';
comment on column contact_uploads.first_line is 'line number of the first row in the file';
comment on column contact_uploads.rows is 'rows of the file, without the header';
comment on column contact_uploads.known is 'contacts that were already on the survey';
comment on column contact_uploads.repeated is 'rows with the address of an earlier row';
comment on column contact_uploads.rejected is 'number of skipped rows. Only the first ones are stored';

create unique index contact_uploads_waiting on contact_uploads (org_id, survey_id, uploaded_by)
  nulls not distinct where imported_at is null;
create index contact_uploads_of_survey on contact_uploads (survey_id, imported_at desc) where imported_at is not null;
create index contact_uploads_by_age on contact_uploads (created_at);

create table contact_upload_chunks (
  org_id    uuid not null,
  upload_id uuid not null,
  place     integer not null,
  chunk     text not null,
  primary key (upload_id, place),
  foreign key (org_id, upload_id) references contact_uploads (org_id, id) on delete cascade
);

comment on table contact_upload_chunks is 'The text of an uploaded list in chunks, until its contacts are imported';

create table contact_upload_rejects (
  org_id    uuid not null,
  upload_id uuid not null,
  line      integer not null,
  value     text not null,
  reason    text not null,
  primary key (upload_id, line),
  foreign key (org_id, upload_id) references contact_uploads (org_id, id) on delete cascade
);

comment on table contact_upload_rejects is 'A skipped row of an uploaded list';
comment on column contact_upload_rejects.value is 'the value of the address column';

create table tags (
  id         uuid primary key default gen_random_uuid(),
  org_id     uuid not null references organizations (id) on delete cascade,
  name       text not null check (char_length(name) between 1 and 200),
  color      text not null check (color ~ '^#[0-9A-Fa-f]{6}$'),
  created_at timestamptz not null default now(),

  unique (org_id, id)
);

comment on table tags is 'A label of an organization';

create unique index tags_one_per_name on tags (org_id, name);
