-- Mail: one claim per survey and address, and what keeps an address from being mailed.
-- A mail's row changes twice on its way. With room in its page, and with no index that depends on the status,
-- a change stays in its page and touches no index.

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
comment on column mails.reason is 'why it failed, as the mail server said it';
comment on column mails.reason_code is 'the kind of failure';
comment on column mails.month is 'whose quota it took';
comment on column mails.traceparent is 'the trace of the request that claimed it';
comment on column mails.claimed_at is 'when it was claimed';
comment on column mails.sending_at is 'when the last attempt began';
comment on column mails.finished_at is 'when its outcome was recorded';

create unique index mails_once on mails (survey_id, email_key, reminder) where blocks_resend;
create index mails_by_request on mails (request_id);
create index mails_by_contact on mails (contact_id);
-- Of the id as text: a plan that was made while the table was small must not take this index to find an address.
create index mails_by_age on mails ((survey_id::text), claimed_at);
create index mails_by_address on mails (org_id, email_key, claimed_at desc);

create table suppressions (
  id         uuid not null default gen_random_uuid(),
  org_id     uuid not null references organizations (id) on delete cascade,
  email      text not null check (email = lower(email)),
  kind       text not null check (kind in ('unsubscribed', 'bounced')),
  detail     text,
  created_at timestamptz not null default now(),
  primary key (org_id, email, kind)
);

comment on table suppressions is
  'An address that gets no more mail of an organization';
comment on column suppressions.email is 'in lower case';
comment on column suppressions.kind is 'unsubscribed: its owner asked for it; bounced: the mailbox does not exist';
comment on column suppressions.detail is 'what the mail server said';

create unique index suppressions_by_id on suppressions (org_id, id);
create index suppressions_newest_first on suppressions (org_id, created_at desc, id desc);

-- However often a request is repeated, it adds one row a day for an address, a survey and a rule.
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
