-- Mails, with one claim per survey, address and round, and everything that blocks an address.
--
-- A mail's row is updated twice. Free space in each page, and no index on the status, keep these updates in the same
-- page without index writes.

create table mails (
  id            uuid primary key default id_at(clock_timestamp()),
  org_id        uuid not null,
  survey_id     uuid not null,
  contact_id    uuid not null,
  request_id    uuid not null,
  email         text not null,
  email_key     text not null generated always as (lower(email)) stored,
  status        text not null default 'claimed' check (status in ('claimed', 'sending', 'sent', 'failed', 'unknown')),
  round         smallint not null default 1,
  blocks_resend boolean not null default true,
  awaited       boolean not null default true,
  reminder      smallint not null default 0 check (reminder between 0 and 3),
  reminds_of    uuid,
  attempts      smallint not null default 0,
  reason        text,
  reason_code   text,
  server_reply  text,
  month         date not null,
  traceparent   text,
  claimed_at    timestamptz not null default now(),
  sending_at    timestamptz,
  finished_at   timestamptz,

  check ((reminder > 0) = (reminds_of is not null)),
  constraint mails_block_resend_unless_failed check (blocks_resend = (status <> 'failed')),
  foreign key (org_id, survey_id, contact_id) references contacts (org_id, survey_id, id) on delete cascade
) with (fillfactor = 50);

comment on table mails is 'A mail to one contact, claimed by a request and sent by a job';
comment on column mails.request_id is 'the request or campaign batch that claimed it';
comment on column mails.status is 'claimed before the first attempt, sending during one, unknown if the process died in one';
comment on column mails.blocks_resend is
  'true if the address must not get another mail of the survey in this round, or another such reminder, because this one was or may have been sent, or is about to be';
comment on column mails.awaited is 'true if a request waits for the outcome. Otherwise the mail is retried for a day';
comment on column mails.reminder is 'number of the reminder, or 0 for the first mail';
comment on column mails.reminds_of is 'the mail whose thread a reminder continues';
comment on column mails.attempts is 'started attempts';
comment on column mails.reason is 'why it failed or was deferred, in the words of the mail server';
comment on column mails.server_reply is 'reply of the mail server that accepted it';
comment on column mails.month is 'the month whose quota it uses';
comment on column mails.traceparent is 'the trace of the request that claimed it';
comment on column mails.sending_at is 'when the last attempt began';

create unique index mails_once on mails (survey_id, email_key, round, reminder) where blocks_resend;
create index mails_by_request on mails (request_id);
create index mails_by_contact on mails (contact_id);
-- Indexes the id as text, so that a plan made for a small table does not use this index to find an address.
create index mails_by_age on mails ((survey_id::text), claimed_at);
create index mails_by_address on mails (org_id, email_key, claimed_at desc);

create table suppressions (
  id         uuid not null default gen_random_uuid(),
  org_id     uuid not null references organizations (id) on delete cascade,
  email      text not null check (email = lower(email)),
  kind       text not null check (kind in ('unsubscribed', 'bounced')),
  by_hand    boolean not null default false,
  detail     text,
  created_at timestamptz not null default now(),
  primary key (org_id, email, kind, by_hand)
);

comment on table suppressions is 'An address that gets no more mail from an organization';
comment on column suppressions.kind is 'unsubscribed by the person or a member, or bounced because the mailbox does not exist';
comment on column suppressions.by_hand is 'true if a member blocked the address, false if the person unsubscribed';
comment on column suppressions.detail is 'the reply of the mail server';

create unique index suppressions_by_id on suppressions (org_id, id);
create index suppressions_newest_first on suppressions (org_id, created_at desc, id desc);

create table lifted_suppressions (
  id         uuid primary key,
  org_id     uuid not null references organizations (id) on delete cascade,
  email      text not null,
  kind       text not null,
  by_hand    boolean not null,
  detail     text,
  created_at timestamptz not null,
  lifted_by  text,
  consent    text,
  lifted_at  timestamptz not null default now()
);

comment on table lifted_suppressions is 'A former suppression, for the timeline of the address';
comment on column lifted_suppressions.id is 'copied from the suppression, like email, kind, by_hand, detail and created_at';
comment on column lifted_suppressions.lifted_by is 'who unblocked the address. Null for the person, on the unsubscribe page';
comment on column lifted_suppressions.consent is 'how the person agreed to get mail again, if a member recorded it';

create index lifted_suppressions_of_address on lifted_suppressions (org_id, email, lifted_at);

-- Repeated requests add at most one row a day for an address, survey and rule.
create table blocked_mails (
  org_id      uuid not null,
  survey_id   uuid not null,
  email       text not null,
  email_key   text not null generated always as (lower(email)) stored,
  reason_code text not null,
  reason      text not null,
  blocked_at  timestamptz not null default now(),
  blocked_on  date not null default (now() at time zone 'UTC')::date,

  primary key (org_id, email_key, survey_id, reason_code, blocked_on),
  foreign key (org_id, survey_id) references surveys (org_id, id) on delete cascade
);

create index blocked_mails_by_age on blocked_mails (blocked_on);

comment on table blocked_mails is 'A mail that a rule blocked, to explain why an address got none';
comment on column blocked_mails.reason_code is 'the rule';
comment on column blocked_mails.blocked_at is 'time of the first request on that day';
comment on column blocked_mails.blocked_on is 'that day, UTC';

create table mailbox_messages (
  id          uuid primary key default gen_random_uuid(),
  mail_from   text not null,
  rcpt_to     text not null,
  subject     text not null,
  raw         bytea not null,
  received_at timestamptz not null default now()
);

comment on table mailbox_messages is 'A mail in the built-in mailbox, which is used without a mail server';

create index mailbox_messages_newest_first on mailbox_messages (received_at desc, id desc);

-- Campaigns mail a survey to all of its contacts that were not asked yet, over hours or days. Automatic sends, rounds
-- and reminders are stored as campaigns too: one row per survey, to which contacts are added as they fall due.
--
-- A campaign's mails are rows of `mails`. They are claimed in batches, and the id of a batch is their request_id.

create table campaigns (
  id            uuid primary key default gen_random_uuid(),
  org_id        uuid not null,
  survey_id     uuid not null,
  kind          text not null default 'campaign' check (kind in ('campaign', 'asking', 'reminder', 'round')),
  reminder      smallint not null default 0 check (reminder between 0 and 3),
  after_days    integer,
  name          text not null check (char_length(name) between 1 and 200),
  status        text not null check (status in ('scheduled', 'running', 'paused', 'finished', 'stopped', 'refused')),
  send_at       timestamptz,
  per_hour      integer check (per_hour between 1 and 1000000),
  audience      jsonb check (jsonb_typeof(audience) in ('string', 'object')),
  reason        text,
  month         date,
  total         integer not null default 0,
  duplicates    integer not null default 0,
  invalid       integer not null default 0,
  waiting       integer not null default 0 check (waiting >= 0),
  turn          integer not null default 0,
  next_at       timestamptz,
  next_mail_at  timestamptz,
  seen_until    timestamptz,
  created_at    timestamptz not null default now(),
  started_at    timestamptz,
  finished_at   timestamptz,

  check ((kind = 'reminder') = (reminder > 0)),
  foreign key (org_id, survey_id) references surveys (org_id, id) on delete cascade,
  unique (org_id, id)
);

comment on table campaigns is
  'A survey mailed to many contacts in steps: to all pending contacts, automatically to new contacts, in rounds, or as a reminder';
comment on column campaigns.kind is
  'campaign if somebody started it, asking for automatic sends, round for later rounds, or reminder. One row each for the last three';
comment on column campaigns.reminder is 'number of the reminder, or 0';
comment on column campaigns.after_days is 'days until the reminder or the automatic mail';
comment on column campaigns.send_at is 'scheduled start. Null for at once';
comment on column campaigns.audience is
  'people who are added at the start: "people", or an object with segment_id or filter. Null for pending contacts only';
comment on column campaigns.reason is 'why the service refused, stopped or paused it';
comment on column campaigns.month is 'the month whose quota its mails use';
comment on column campaigns.total is 'judged contacts';
comment on column campaigns.duplicates is 'contacts that a rule blocked before their mail was claimed';
comment on column campaigns.invalid is 'contacts whose address cannot be mailed';
comment on column campaigns.waiting is 'contacts whose mail is not claimed yet. Their quota is reserved until the campaign ends';
comment on column campaigns.turn is 'number of its current job. Pausing, resuming and stopping invalidate earlier jobs';
comment on column campaigns.next_at is 'when that job is due';
comment on column campaigns.next_mail_at is 'when its pace allows the next mail';
comment on column campaigns.seen_until is 'for automatic sends and reminders: earlier contacts or mails need no further check';
comment on column campaigns.started_at is 'when its contacts were judged';

create index campaigns_newest_first on campaigns (survey_id, created_at desc, id desc) where kind = 'campaign';
create unique index campaigns_by_itself on campaigns (survey_id, kind, reminder) where kind <> 'campaign';
create index campaigns_due on campaigns (next_at) where status in ('scheduled', 'running');

create table campaign_batches (
  id          uuid primary key,
  org_id      uuid not null,
  campaign_id uuid not null,
  mails       integer not null check (mails >= 0),
  sent        integer,
  blocked     integer,
  failed      integer,
  claimed_at  timestamptz not null default now(),
  ended_at    timestamptz,

  check ((ended_at is null) = (sent is null) and (ended_at is null) = (blocked is null) and (ended_at is null) = (failed is null)),
  foreign key (org_id, campaign_id) references campaigns (org_id, id) on delete cascade
);

comment on table campaign_batches is
  'Mails of a campaign that were claimed together. Their outcomes are counted in mails, and stored here once all mails have one';
comment on column campaign_batches.id is 'request_id of its mails';
comment on column campaign_batches.mails is 'number of mails that were claimed and not withdrawn';
comment on column campaign_batches.blocked is 'mails that a rule blocked after the claim, or whose contact was deleted';
comment on column campaign_batches.ended_at is 'when all of them had an outcome';

create index campaign_batches_by_campaign on campaign_batches (campaign_id);
create index campaign_batches_open on campaign_batches (claimed_at) where ended_at is null;

create table campaign_contacts (
  id          uuid primary key default gen_random_uuid(),
  org_id      uuid not null,
  survey_id   uuid not null,
  campaign_id uuid not null,
  contact_id  uuid not null,
  batch_id    uuid,
  reason_code text,
  reason      text,
  created_at  timestamptz not null default now(),

  constraint campaign_contacts_once unique (contact_id, campaign_id),
  foreign key (org_id, campaign_id) references campaigns (org_id, id) on delete cascade,
  foreign key (org_id, survey_id, contact_id) references contacts (org_id, survey_id, id) on delete cascade
);

comment on table campaign_contacts is
  'A contact that a campaign has judged. Its mail waits, was claimed, or was blocked by a rule';
comment on column campaign_contacts.reason_code is 'rule that blocked the mail';

create index campaign_contacts_newest_first on campaign_contacts (campaign_id, created_at desc, id desc);
create index campaign_contacts_waiting on campaign_contacts (campaign_id, id) where batch_id is null and reason_code is null;

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

comment on table notification_choices is 'Notifications that a member has chosen. A member without a row gets none';
comment on column notification_choices.time_zone is 'IANA name, for the start of the member''s day and week';

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
  'A notification of a member by email, or of an organization through its Slack-compatible webhook. The row ensures that it is sent once';
comment on column notifications.member_id is 'the member to email. Null for a post to the organization''s webhook';
comment on column notifications.kind is 'kind of the event, or digest';
comment on column notifications.subject is
  'the id of a response or campaign, a webhook and the time it was turned off, a month, or the period of a digest';
comment on column notifications.sent_at is 'when the mail server accepted it or it was posted';

create table slack_hooks (
  org_id     uuid primary key references organizations (id) on delete cascade,
  url        bytea not null,
  events     text[] not null default '{}',
  digest     text not null default 'none' check (digest in ('none', 'day', 'week')),
  changed_at timestamptz not null default now()
);

comment on table slack_hooks is 'The Slack-compatible incoming webhook for an organization''s notifications';
comment on column slack_hooks.url is 'its secret URL, sealed';
comment on column slack_hooks.digest is 'how often a digest is posted, in the organization''s time zone';

create table notification_contents (
  org_id   uuid primary key references organizations (id) on delete cascade,
  people   boolean not null,
  unedited boolean not null
);

comment on table notification_contents is 'Details that notifications of an organization may show. None without a row';
comment on column notification_contents.people is 'the name and address of its contact';
comment on column notification_contents.unedited is 'its comment without redaction';
