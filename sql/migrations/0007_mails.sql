-- Mail: one claim per survey and address, and what keeps an address from being mailed.
-- A mail's row changes twice on its way. With room in its page, and with no index that depends on the status,
-- a change stays in its page and touches no index.

create table mails (
  id            uuid primary key default gen_random_uuid(),
  org_id        uuid not null,
  survey_id     uuid not null,
  contact_id    uuid not null,
  request_id    uuid not null,                       -- the request that claimed it and waits for it
  email         text not null,
  email_key     text not null generated always as (lower(email)) stored,
  status        text not null default 'claimed' check (status in ('claimed', 'sending', 'sent', 'failed', 'unknown')),
  -- What has gone out, may have gone out, or is on its way blocks another mail to the same address.
  blocks_resend boolean not null default true,
  attempts      smallint not null default 0,
  reason        text,
  reason_code   text,
  month         date not null,                       -- whose quota it took
  traceparent   text,
  claimed_at    timestamptz not null default now(),
  sending_at    timestamptz,
  finished_at   timestamptz,

  constraint mails_block_resend_unless_failed check (blocks_resend = (status <> 'failed')),
  foreign key (org_id, survey_id, contact_id) references contacts (org_id, survey_id, id) on delete cascade
) with (fillfactor = 50);

create unique index mails_once on mails (survey_id, email_key) where blocks_resend;
create index mails_by_request on mails (request_id);
create index mails_by_contact on mails (contact_id);
create index mails_by_address on mails (org_id, email_key, claimed_at desc);

-- An address that gets no more mail of an organization: it asked so, or its mailbox does not exist.
create table suppressions (
  id         uuid not null default gen_random_uuid(),
  org_id     uuid not null references organizations (id) on delete cascade,
  email      text not null check (email = lower(email)),
  kind       text not null check (kind in ('unsubscribed', 'bounced')),
  detail     text,
  created_at timestamptz not null default now(),
  primary key (org_id, email, kind)
);

create unique index suppressions_by_id on suppressions (org_id, id);
create index suppressions_newest_first on suppressions (org_id, created_at desc, id desc);

-- A mail that a rule blocked, for the question why an address got none.
create table blocked_mails (
  id          bigint generated always as identity primary key,
  org_id      uuid not null,
  survey_id   uuid not null,
  email       text not null,
  email_key   text not null generated always as (lower(email)) stored,
  reason_code text not null,
  reason      text not null,
  blocked_at  timestamptz not null default now(),

  foreign key (org_id, survey_id) references surveys (org_id, id) on delete cascade
);

create index blocked_mails_by_address on blocked_mails (org_id, email_key, blocked_at desc);

-- Where mail lands when no SMTP server is configured.
create table mailbox_messages (
  id          uuid primary key default gen_random_uuid(),
  mail_from   text not null,
  rcpt_to     text not null,
  subject     text not null,
  raw         bytea not null,
  received_at timestamptz not null default now()
);

create index mailbox_messages_newest_first on mailbox_messages (received_at desc, id desc);
