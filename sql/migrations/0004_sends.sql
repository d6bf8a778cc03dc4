-- Mail: one claim per survey and address, and what keeps an address from being mailed.

create table sends (
  id          uuid primary key default gen_random_uuid(),
  org_id      uuid not null,
  survey_id   uuid not null,
  contact_id  uuid not null,
  request_id  uuid not null,                         -- the request that claimed it and waits for it
  email       text not null,
  status      text not null default 'claimed' check (status in ('claimed', 'sending', 'sent', 'failed', 'unknown')),
  attempts    smallint not null default 0,
  reason      text,
  reason_code text,
  month       date not null,                         -- whose quota it took
  traceparent text,
  claimed_at  timestamptz not null default now(),
  sending_at  timestamptz,
  settled_at  timestamptz,

  foreign key (org_id, survey_id, contact_id) references contacts (org_id, survey_id, id) on delete cascade
);

-- The duplicate protection: whatever has gone out, may have gone out, or is on its way, holds its place.
create unique index sends_once on sends (survey_id, lower(email)) where status <> 'failed';
create index sends_by_request on sends (request_id);
create index sends_by_contact on sends (contact_id);
create index sends_by_address on sends (org_id, lower(email), claimed_at desc);

-- An address that gets no more mail of an organization: it asked so, or its mailbox does not exist.
create table suppressions (
  org_id     uuid not null references organizations (id) on delete cascade,
  email      text not null check (email = lower(email)),
  kind       text not null check (kind in ('unsubscribed', 'bounced')),
  detail     text,
  created_at timestamptz not null default now(),
  primary key (org_id, email, kind)
);

-- What a request asked for and a rule kept back, for the question why somebody got no mail.
create table withheld_sends (
  id          bigint generated always as identity primary key,
  org_id      uuid not null,
  survey_id   uuid not null,
  email       text not null,
  reason_code text not null,
  reason      text not null,
  withheld_at timestamptz not null default now(),

  foreign key (org_id, survey_id) references surveys (org_id, id) on delete cascade
);

create index withheld_sends_by_address on withheld_sends (org_id, lower(email), withheld_at desc);

-- Where mail lands when no SMTP server is configured.
create table mailbox_messages (
  id          uuid primary key default gen_random_uuid(),
  mail_from   text not null,
  rcpt_to     text not null,
  subject     text not null,
  raw         bytea not null,
  received_at timestamptz not null default now()
);

create index mailbox_newest_first on mailbox_messages (received_at desc, id desc);
