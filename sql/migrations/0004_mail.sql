-- Mails, with one claim per survey and address, and everything that blocks an address.
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

comment on table mails is
  'A mail to one contact: claimed with the request that asked for it, then sent by a job';
comment on column mails.id is 'begins with the time of its making, so that new rows stand together in its indexes';
comment on column mails.request_id is 'the request that claimed it, or the part of a campaign';
comment on column mails.email is 'the address it goes to, as it was given';
comment on column mails.email_key is 'the address in lower case, by which addresses are compared';
comment on column mails.status is 'claimed: not begun; sending: an attempt runs; unknown: the process died in an attempt';
comment on column mails.blocks_resend is 'whether no other mail of the survey, or no such reminder, may go to the address: this one has gone out, may have, or is about to';
comment on column mails.awaited is 'whether a request waits for its outcome; without one it is tried for a day';
comment on column mails.reminder is '0: it asks the contact; else which reminder it is';
comment on column mails.reminds_of is 'the mail whose thread a reminder continues';
comment on column mails.attempts is 'attempts begun';
comment on column mails.reason is 'why it failed or is put off, as the mail server said it';
comment on column mails.server_reply is 'what the mail server said when it took it';
comment on column mails.reason_code is 'the kind of failure';
comment on column mails.month is 'whose quota it took';
comment on column mails.traceparent is 'the trace of the request that claimed it';
comment on column mails.claimed_at is 'when it was claimed';
comment on column mails.sending_at is 'when the last attempt began';
comment on column mails.finished_at is 'when its outcome was recorded';

create unique index mails_once on mails (survey_id, email_key, reminder) where blocks_resend;
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

comment on table suppressions is
  'An address that gets no more mail of an organization';
comment on column suppressions.email is 'in lower case';
comment on column suppressions.kind is 'unsubscribed: its owner asked for it; bounced: the mailbox does not exist';
comment on column suppressions.by_hand is 'whether a member suppressed the address; else unsubscribed is the wish of its owner';
comment on column suppressions.detail is 'what the mail server said';

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

comment on table lifted_suppressions is
  'A suppression that is over, for the timeline of the address';
comment on column lifted_suppressions.id is 'that of the suppression, as are email, kind, by_hand, detail and created_at';
comment on column lifted_suppressions.lifted_by is 'who allowed the address again; null: its owner, on the page for that';
comment on column lifted_suppressions.consent is 'how its owner agreed to get mail again, where a member recorded it';

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

comment on table blocked_mails is
  'A mail that a rule blocked, for the question why an address got none';
comment on column blocked_mails.email is 'the address it would have gone to';
comment on column blocked_mails.email_key is 'the address in lower case, by which addresses are compared';
comment on column blocked_mails.reason_code is 'the rule';
comment on column blocked_mails.reason is 'the rule in words';
comment on column blocked_mails.blocked_at is 'when it was asked for, the first time that day';
comment on column blocked_mails.blocked_on is 'that day, UTC';

create table mailbox_messages (
  id          uuid primary key default gen_random_uuid(),
  mail_from   text not null,
  rcpt_to     text not null,
  subject     text not null,
  raw         bytea not null,
  received_at timestamptz not null default now()
);

comment on table mailbox_messages is
  'A mail in the local mailbox, where mail goes while no mail server is set';
comment on column mailbox_messages.mail_from is 'sender of the envelope';
comment on column mailbox_messages.rcpt_to is 'recipient of the envelope';
comment on column mailbox_messages.subject is 'as the list shows it';
comment on column mailbox_messages.raw is 'the message as it would have been sent';
comment on column mailbox_messages.received_at is 'when it was sent here';

create index mailbox_messages_newest_first on mailbox_messages (received_at desc, id desc);

-- Campaigns mail a survey to all of its contacts that were not asked yet, over hours or days. Automatic sends and
-- reminders are stored as campaigns too: one row per survey, to which contacts are added as they fall due.
--
-- A campaign's mails are rows of `mails`. They are claimed in batches, and the id of a batch is their request_id.

create table campaigns (
  id            uuid primary key default gen_random_uuid(),
  org_id        uuid not null,
  survey_id     uuid not null,
  kind          text not null default 'campaign' check (kind in ('campaign', 'asking', 'reminder')),
  reminder      smallint not null default 0 check (reminder between 0 and 3),
  after_days    integer,
  name          text not null check (char_length(name) between 1 and 200),
  status        text not null check (status in ('scheduled', 'running', 'paused', 'finished', 'stopped', 'refused')),
  send_at       timestamptz,
  per_hour      integer check (per_hour between 1 and 1000000),
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
  'A survey mailed to many contacts step by step: all that are still to be asked, those that fall due by themselves, or those that are reminded';
comment on column campaigns.kind is 'campaign: somebody started it; asking, reminder: what a survey does by itself, one row each';
comment on column campaigns.reminder is 'which reminder it is, for those';
comment on column campaigns.after_days is 'after how many days it reminds';
comment on column campaigns.reason is 'why it was refused, or stopped or paused by itself';
comment on column campaigns.month is 'whose quota its mails take';
comment on column campaigns.total is 'contacts that were judged';
comment on column campaigns.duplicates is 'contacts that a rule kept from being mailed, before their mail was claimed';
comment on column campaigns.invalid is 'contacts whose address cannot be mailed';
comment on column campaigns.waiting is 'contacts whose mail is not claimed yet; until it ends, the quota of these mails is reserved';
comment on column campaigns.turn is 'number of the job that may go on with it: pausing, resuming and stopping end the turn of the one before';
comment on column campaigns.next_at is 'when that job is due';
comment on column campaigns.next_mail_at is 'when its pace allows the next mail';
comment on column campaigns.seen_until is 'contacts that were added, or mails that were claimed, before this are done with, for what a survey does by itself';
comment on column campaigns.finished_at is 'when it ended, in whatever way';
comment on column campaigns.name is 'as lists show it';
comment on column campaigns.started_at is 'when its contacts were judged';
comment on column campaigns.status is 'scheduled, running, paused, finished, stopped or refused';
comment on column campaigns.send_at is 'when it is to begin; without a time at once';
comment on column campaigns.per_hour is 'mails an hour at most; without a number there is no such pace';

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
  'Mails of a campaign that were claimed together. Their outcomes are counted in mails until all have one, and here after that';
comment on column campaign_batches.id is 'request_id of its mails';
comment on column campaign_batches.mails is 'how many were claimed and not withdrawn';
comment on column campaign_batches.blocked is 'mails that a rule blocked after the claim, or whose contact was deleted';
comment on column campaign_batches.ended_at is 'when all of them had an outcome';
comment on column campaign_batches.claimed_at is 'when its mails were claimed';
comment on column campaign_batches.sent is 'how many of its mails were sent; counted once all have an outcome';
comment on column campaign_batches.failed is 'how many of its mails failed; counted once all have an outcome';

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
  'A contact that a campaign has judged: its mail waits, was claimed, or is blocked by a rule';
comment on column campaign_contacts.batch_id is 'batch with which its mail was claimed';
comment on column campaign_contacts.reason_code is 'rule that blocked the mail';
comment on column campaign_contacts.reason is 'that rule in words';

create index campaign_contacts_newest_first on campaign_contacts (campaign_id, created_at desc, id desc);
create index campaign_contacts_waiting on campaign_contacts (campaign_id, id) where batch_id is null and reason_code is null;

-- Notifications that members have chosen in each organization.

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
  'Notifications that a member has chosen. A member without a row gets none';
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
  'A notification of a member by email, or of an organization through its Slack-compatible webhook. The row makes sure that it is sent once';
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
  'Details that notifications of an organization may show. Without a row none';
comment on column notification_contents.people is 'the name and address of its contact';
comment on column notification_contents.unedited is 'its comment as it was written, with the people in it';
