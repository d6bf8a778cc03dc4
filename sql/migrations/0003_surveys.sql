-- One question to many contacts.

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
  reminders     jsonb not null default '[]' check (jsonb_typeof(reminders) = 'array' and jsonb_array_length(reminders) <= 3),
  ask_after_days       integer check (ask_after_days between 0 and 365),
  ask_after_days_since timestamptz,
  send_window   jsonb check (jsonb_typeof(send_window) = 'object'),
  embed         jsonb not null default '{"origins": []}' check (jsonb_typeof(embed -> 'origins') = 'array'),
  status        text not null default 'active' check (status in ('draft', 'active', 'completed')),
  completed_by  text check (completed_by in ('answers', 'hand')),
  completed_at  timestamptz,
  share_id      text not null unique,
  created_at    timestamptz not null default now(),
  updated_at    timestamptz not null default now(),

  check ((status = 'completed') = (completed_by is not null)),
  check ((ask_after_days is null) = (ask_after_days_since is null)),
  constraint surveys_belong_to_organization foreign key (org_id) references organizations (id) on delete cascade,
  -- Lets child rows carry org_id and have Postgres prove that it is the right one.
  unique (org_id, id)
);

comment on table surveys is
  'One question to many contacts';
comment on column surveys.type is 'which scale the question is answered on';
comment on column surveys.audience is 'employee for a survey of employees';
comment on column surveys.name is 'what the organization calls it';
comment on column surveys.question_text is 'the question as contacts read it';
comment on column surveys.subject is 'subject of the mail; without one the question is';
comment on column surveys.language is 'of its pages and mails, as a BCP 47 tag';
comment on column surveys.from_name is 'sender of the mail';
comment on column surveys.from_email is 'address of the sender';
comment on column surveys.reply_to is 'where replies go';
comment on column surveys.intro is 'what its mail says before the question; may hold placeholders';
comment on column surveys.follow_up is 'the question above the comment: text, or an object with a text for each category';
comment on column surveys.thanks is 'what its page says after an answer: text, or an object by category with text, link_url and link_text';
comment on column surveys.texts is 'its texts in other languages, by tag: question_text, subject, intro, follow_up, thanks';
comment on column surveys.reminders is 'mails to contacts that have not answered: an array of after_days and subject, in the order of the days';
comment on column surveys.ask_after_days is 'mails each contact by itself so many days after it was added';
comment on column surveys.ask_after_days_since is 'when ask_after_days was set: contacts that were there before count from then';
comment on column surveys.send_window is 'when campaigns, reminders and mails by itself may go out: days, from, to, time_zone; null: always';
comment on column surveys.embed is 'how websites may show it: origins, position, delay_seconds, every_days';
comment on column surveys.status is 'whether it takes answers';
comment on column surveys.completed_by is 'answers: every contact has responded; hand: it was closed by hand';
comment on column surveys.completed_at is 'when it was completed';
comment on column surveys.share_id is 'the part of the shareable link that names it';

create index surveys_newest_first on surveys (org_id, created_at desc, id desc);
