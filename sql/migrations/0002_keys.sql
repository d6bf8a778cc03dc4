-- An API key is how a program acts for an organization.
-- Only the hash of a key's secret is stored: a leaked backup must not leak live keys.

create table api_keys (
  id          uuid primary key default gen_random_uuid(),
  org_id      uuid not null,
  name        text not null check (char_length(name) between 1 and 200),
  public_id   text not null unique,                  -- the 8 characters after ask_live_
  secret_hash bytea not null check (octet_length(secret_hash) = 32),
  permission  text not null default 'read' check (permission in ('read', 'write')),
  expires_at  timestamptz,
  revoked_at  timestamptz,
  created_at  timestamptz not null default now(),

  constraint api_keys_belong_to_organization foreign key (org_id) references organizations (id) on delete cascade
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
  answer        bytea,                               -- sealed: it may show what is shown once, such as a webhook's secret
  created_at    timestamptz not null default now(),
  primary key (key_id, name)
);

create index idempotency_keys_by_age on idempotency_keys (created_at);
