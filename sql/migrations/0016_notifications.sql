-- What a member wants to be notified of, in each organization.

create table notification_choices (
  org_id     uuid not null,
  member_id  uuid not null,
  events     text[] not null default '{}',
  digest     text not null default 'none' check (digest in ('none', 'day', 'week')),
  time_zone  text not null default 'UTC',
  changed_at timestamptz not null default now(),
  primary key (org_id, member_id),
  foreign key (org_id, member_id) references memberships (org_id, member_id) on delete cascade
);

comment on table notification_choices is
  'What a member of an organization wants to be notified of by mail. A member without a row wants nothing';
comment on column notification_choices.events is 'kinds of events, each notified of when it occurs';
comment on column notification_choices.digest is 'how often a digest is sent';
comment on column notification_choices.time_zone is 'IANA name: when the member''s day and week begin';
comment on column notification_choices.changed_at is 'when the member chose last';

create table notifications (
  id         uuid primary key default gen_random_uuid(),
  org_id     uuid not null references organizations (id) on delete cascade,
  member_id  uuid,
  kind       text not null,
  subject    text not null,
  created_at timestamptz not null default now(),
  sent_at    timestamptz,
  foreign key (org_id, member_id) references memberships (org_id, member_id) on delete cascade,
  unique nulls not distinct (org_id, kind, subject, member_id)
);

create index notifications_by_age on notifications (created_at);

comment on table notifications is
  'What a member is notified of by mail, or an organization through its Slack-compatible webhook. The row is what makes it occur once';
comment on column notifications.member_id is 'the member that gets a mail; without one the organization''s webhook gets a post';
comment on column notifications.kind is 'kind of the event, or digest';
comment on column notifications.subject is
  'what it is about: the id of a response or campaign, a webhook and when it was switched off, a month, the period of a digest';
comment on column notifications.sent_at is 'when it was given to the mail server or posted';

create table slack_hooks (
  org_id     uuid primary key references organizations (id) on delete cascade,
  url        bytea not null,
  events     text[] not null default '{}',
  digest     text not null default 'none' check (digest in ('none', 'day', 'week')),
  changed_at timestamptz not null default now()
);

comment on table slack_hooks is
  'The Slack-compatible incoming webhook that an organization is notified by';
comment on column slack_hooks.url is 'its address, which is its secret, sealed';
comment on column slack_hooks.events is 'kinds of events that are posted';
comment on column slack_hooks.digest is 'how often a digest is posted, by the clock of the organization';
comment on column slack_hooks.changed_at is 'when it was changed last';

create table notification_contents (
  org_id   uuid primary key references organizations (id) on delete cascade,
  people   boolean not null,
  unedited boolean not null
);

comment on table notification_contents is
  'What notifications of an organization may show of a response. Without a row neither';
comment on column notification_contents.people is 'the name and address of its contact';
comment on column notification_contents.unedited is 'its comment as it was written, with the people in it';
