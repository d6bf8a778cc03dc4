-- One question to many contacts.

create table surveys (
  id            uuid primary key default gen_random_uuid(),
  org_id        uuid not null,
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
  constraint surveys_belong_to_organization foreign key (org_id) references organizations (id) on delete cascade,
  -- Lets child rows carry org_id and have Postgres prove that it is the right one.
  unique (org_id, id)
);

create index surveys_newest_first on surveys (org_id, created_at desc, id desc);
