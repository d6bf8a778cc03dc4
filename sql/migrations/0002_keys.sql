-- An API key is how a program acts for an organization.
-- Only the hash of a key's secret is stored: a leaked backup must not leak live keys.

create table api_keys (
  id           uuid primary key default gen_random_uuid(),
  org_id       uuid not null,
  name         text not null check (char_length(name) between 1 and 200),
  public_id    text not null unique,
  secret_hash  bytea not null check (octet_length(secret_hash) = 32),
  permission   text not null default 'read' check (permission in ('read', 'write')),
  expires_at   timestamptz,
  revoked_at   timestamptz,
  last_used_at timestamptz,
  created_at   timestamptz not null default now(),

  constraint api_keys_belong_to_organization foreign key (org_id) references organizations (id) on delete cascade
);

comment on table api_keys is
  'A key that a program calls the API with. Only a hash of its secret is stored: a leaked backup leaks no live key';
comment on column api_keys.name is 'what the key is for';
comment on column api_keys.public_id is 'the eight characters after ask_live_, by which it is found';
comment on column api_keys.secret_hash is 'SHA-256 of the secret part';
comment on column api_keys.permission is 'read, or read and write';
comment on column api_keys.expires_at is 'when it stops working; without a time never';
comment on column api_keys.revoked_at is 'when it was made to stop working';
comment on column api_keys.last_used_at is 'last use, kept to the minute';

create index api_keys_by_organization on api_keys (org_id);

create unlogged table rate_windows (
  subject text primary key,
  minute  timestamptz not null,
  count   integer not null
) with (fillfactor = 50);

comment on table rate_windows is
  'Requests counted in the current clock minute. One row for each subject, updated in place; unlogged, because a crash may lose a minute''s counts but counting must not slow every request';
comment on column rate_windows.subject is 'a key''s id, or what an address asks for and the address';
comment on column rate_windows.minute is 'start of the clock minute that is counted';
comment on column rate_windows.count is 'requests in that minute';

create table idempotency_keys (
  key_id        uuid not null references api_keys (id) on delete cascade,
  name          text not null,
  request_hash  bytea not null,
  status        smallint,
  answer        bytea,
  answer_bytes  integer not null generated always as (coalesce(octet_length(answer), 0)) stored,
  created_at    timestamptz not null default now(),
  primary key (key_id, name)
);

comment on table idempotency_keys is
  'The answer of a POST that carried an Idempotency-Key, for a repeat of it';
comment on column idempotency_keys.key_id is 'the API key that named the request';
comment on column idempotency_keys.name is 'the value of the header';
comment on column idempotency_keys.request_hash is 'SHA-256 of path and body: the same name on another request is a mistake';
comment on column idempotency_keys.status is 'status of the answer; without one the request is still running';
comment on column idempotency_keys.answer is 'the body, compressed and sealed: it may show what is shown once, such as a webhook''s secret';
comment on column idempotency_keys.answer_bytes is 'size of the answer; without one it was too large to be stored';

-- What a key has stored, but for answers that are too small to be counted one by one.
create index idempotency_keys_by_size on idempotency_keys (key_id) include (answer_bytes) where answer_bytes > 1024;
create index idempotency_keys_by_age on idempotency_keys (created_at);
