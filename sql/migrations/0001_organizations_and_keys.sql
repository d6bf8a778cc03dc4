-- Organizations own everything else; an API key is how one of them speaks to us.
-- Only the hash of a key's secret is stored: a leaked backup must not leak live keys.

create table organizations (
  id                 uuid primary key default gen_random_uuid(),
  name               text not null check (char_length(name) between 1 and 200),
  color              text not null default '#2f6fed' check (color ~ '^#[0-9A-Fa-f]{6}$'),
  time_zone          text not null default 'UTC',
  contact_email      text,
  people             text[] not null default '{}',   -- names to redact beside the contact's and the sender's
  monthly_send_limit integer not null default 10000 check (monthly_send_limit >= 0),
  frequency_days     integer check (frequency_days > 0),
  ai_enabled         boolean not null default false,
  created_at         timestamptz not null default now(),
  updated_at         timestamptz not null default now()
);

create table api_keys (
  id          uuid primary key default gen_random_uuid(),
  org_id      uuid not null references organizations (id) on delete cascade,
  name        text not null check (char_length(name) between 1 and 200),
  public_id   text not null unique,                  -- the 8 characters after ask_live_
  secret_hash bytea not null check (octet_length(secret_hash) = 32),
  permission  text not null default 'read' check (permission in ('read', 'write')),
  expires_at  timestamptz,
  revoked_at  timestamptz,
  created_at  timestamptz not null default now()
);

create index api_keys_by_organization on api_keys (org_id);

-- Requests counted in the current clock minute, for a key or an address. One row a subject, updated
-- in place; unlogged, because a crash may forget a minute's counts but must not slow every request.
create unlogged table rate_windows (
  subject text primary key,
  minute  timestamptz not null,
  count   integer not null
) with (fillfactor = 50);

-- The stored answer of a POST that carried an Idempotency-Key; without a status it is still running.
create table idempotency_keys (
  key_id        uuid not null references api_keys (id) on delete cascade,
  name          text not null,
  request_hash  bytea not null,
  status        smallint,
  response_body text,
  created_at    timestamptz not null default now(),
  primary key (key_id, name)
);

create index idempotency_keys_by_age on idempotency_keys (created_at);

-- Mails that count against an organization's limit, by calendar month (UTC). The row is the lock
-- under which a send reserves its quota.
create table send_usage (
  org_id uuid not null references organizations (id) on delete cascade,
  month  date not null,
  used   integer not null default 0 check (used >= 0),
  primary key (org_id, month)
);
