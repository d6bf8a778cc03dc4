-- Formats a time as the API shows it: UTC, to the millisecond.
create function iso(moment timestamptz) returns text
language sql stable
return to_char(moment at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');

-- A cursor for the rows after this one: its time, to the microsecond, and its id, as base64url.
create function page_cursor(created_at timestamptz, id uuid) returns text
language sql stable
return translate(
  encode(convert_to(to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') || ' ' || id, 'UTF8'), 'base64'),
  E'+/=\n', '-_');

-- The smallest id with this time, to the microsecond. Ids of `id_at` sort by time, so a key that ends with an id lists
-- newest first without a time column, and a range of ids is a range of time. The layout is UUIDv7.
create function least_id_at(moment timestamptz) returns uuid
language sql immutable parallel safe
return encode(
  int8send(
    (extract(epoch from moment) * 1000000)::bigint / 1000 << 16
    | (x'7000'::bigint + (extract(epoch from moment) * 1000000)::bigint % 1000 * 4)) || '\x8000000000000000',
  'hex')::uuid;

-- The time in an id of `id_at`, to the microsecond, so that a row needs no column for the time. For UUIDv7 from other
-- sources, the result is accurate to two milliseconds.
create function time_of(id uuid) returns timestamptz
language sql immutable parallel safe
return (timestamp '1970-01-01' + interval '1 microsecond' * (
  ('x' || translate(left(id::text, 13), '-', ''))::bit(48)::bigint * 1000
    + ('x' || substring(id::text from 16 for 3))::bit(12)::bigint / 4)) at time zone 'UTC';

-- An id that begins with this time, so that new rows are adjacent in indexes.
create function id_at(moment timestamptz) returns uuid
language sql volatile parallel safe
return encode(
  int8send(
    (extract(epoch from moment) * 1000000)::bigint / 1000 << 16
    | (x'7000'::bigint + (extract(epoch from moment) * 1000000)::bigint % 1000 * 4))
    || substring(uuid_send(gen_random_uuid()) from 9),
  'hex')::uuid;

create table organizations (
  id                 uuid primary key default gen_random_uuid(),
  name               text not null check (char_length(name) between 1 and 200),
  slug               text not null check (slug ~ '^[a-z0-9]+(-[a-z0-9]+)*$' and char_length(slug) <= 80),
  color              text not null default '#2f6fed' check (color ~ '^#[0-9a-f]{6}$'),
  logo               text,
  time_zone          text not null default 'UTC',
  language           text not null default 'en',
  postal_address     text check (char_length(postal_address) <= 500),
  mail_foot          text check (char_length(mail_foot) <= 500),
  contact_email      text,
  people             text[] not null default '{}',
  monthly_send_limit integer not null default 10000 check (monthly_send_limit >= 0),
  frequency_days     integer check (frequency_days > 0),
  ai_enabled         boolean not null default false,
  keep_comments_days integer check (keep_comments_days between 1 and 36500),
  keep_contacts_days integer check (keep_contacts_days between 1 and 36500),
  keep_openings_days integer check (keep_openings_days between 1 and 90),
  keep_mails_days    integer check (keep_mails_days between 1 and 36500),
  address_key        bytea not null
    default sha256(convert_to(gen_random_uuid()::text || gen_random_uuid()::text, 'UTF8')),
  deleted            jsonb not null default '{}' check (jsonb_typeof(deleted) = 'object'),
  created_at         timestamptz not null default now(),
  updated_at         timestamptz not null default now(),

  constraint organizations_have_distinct_slugs unique (slug)
);

comment on table organizations is 'A customer of the deployment. Everything else belongs to one';
comment on column organizations.color is 'of pages and mails, as #rrggbb';
comment on column organizations.logo is 'name of the logo in URLs, from a hash of the picture. Null without a logo';
comment on column organizations.time_zone is 'IANA name, for days and months of reports';
comment on column organizations.language is 'of new surveys, as a BCP 47 tag';
comment on column organizations.postal_address is 'lines in the footer of mails';
comment on column organizations.mail_foot is 'custom lines in the footer of mails';
comment on column organizations.contact_email is 'recipient of emails about webhooks and reports';
comment on column organizations.people is 'names to redact, in addition to the contact''s and the sender''s';
comment on column organizations.monthly_send_limit is 'mails per calendar month';
comment on column organizations.frequency_days is 'minimum days between two mails to an address. Null for no rule';
comment on column organizations.ai_enabled is 'true if comments are analyzed and reports are written';
comment on column organizations.keep_comments_days is 'days until comments are deleted. Null for never';
comment on column organizations.keep_contacts_days is 'days without activity until contacts are deleted. Null for never';
comment on column organizations.keep_openings_days is 'days until visits of links are deleted, at most 90';
comment on column organizations.keep_mails_days is 'days until mails are deleted. Null for never';
comment on column organizations.address_key is 'random key of the hashes of erased addresses, the same in every backup';
comment on column organizations.deleted is 'number of rows by table that an unfinished deletion has deleted';

create table mail_usage (
  org_id uuid not null references organizations (id) on delete cascade,
  month  date not null,
  used   integer not null default 0 check (used >= 0),
  primary key (org_id, month)
);

comment on table mail_usage is
  'Mails that count towards an organization''s limit. A send locks the row to reserve its quota';
comment on column mail_usage.month is 'first day of the calendar month, UTC';
comment on column mail_usage.used is 'mails reserved or sent in the month';

create table former_slugs (
  slug   text primary key,
  org_id uuid not null references organizations (id) on delete cascade
);

create index former_slugs_by_organization on former_slugs (org_id);

comment on table former_slugs is 'Former slugs of organizations. URLs with them redirect to the current slug';

create table organization_logos (
  org_id     uuid primary key references organizations (id) on delete cascade,
  type       text not null check (type in ('image/png', 'image/jpeg', 'image/webp')),
  width      integer not null check (width > 0),
  height     integer not null check (height > 0),
  bytes      bytea not null check (octet_length(bytes) <= 262144),
  changed_at timestamptz not null default now()
);

comment on table organization_logos is
  'The logo on an organization''s pages and in its mails. Type and size in pixels are read from the file';

-- Members are the people who sign in. A person may belong to several organizations, with a role in each.

create table members (
  id            uuid primary key default gen_random_uuid(),
  email         text not null check (char_length(email) between 3 and 254),
  email_key     text not null generated always as (lower(email)) stored,
  name          text not null check (char_length(name) between 1 and 200),
  password_hash text,
  totp_secret   bytea,
  totp_since    timestamptz,
  totp_step     bigint,
  sso_issuer    text,
  sso_subject   text,
  is_operator   boolean not null default false,
  email_proved_at timestamptz,
  created_at    timestamptz not null default now(),

  constraint members_have_distinct_addresses unique (email_key),
  constraint members_have_distinct_subjects unique (sso_issuer, sso_subject),
  check (num_nonnulls(sso_issuer, sso_subject) in (0, 2))
);

comment on table members is 'A person who signs in';
comment on column members.email_key is 'the address in lower case, to find members';
comment on column members.password_hash is 'argon2id with its parameters and salt. Null for no sign-in by password';
comment on column members.totp_secret is 'secret of the one-time codes, sealed. Not in use before totp_since';
comment on column members.totp_since is 'when the first code was accepted';
comment on column members.totp_step is 'time step of the newest accepted code, because a code works once';
comment on column members.sso_issuer is 'OpenID provider for sign-in';
comment on column members.sso_subject is 'the person''s id at that provider';
comment on column members.is_operator is 'true if the person runs the deployment';
comment on column members.email_proved_at is
  'when the address was first verified, by a link that was only mailed or by the OpenID provider';

create table memberships (
  org_id     uuid not null references organizations (id) on delete cascade,
  member_id  uuid not null references members (id) on delete cascade,
  role       text not null check (role in ('viewer', 'editor', 'owner')),
  group_role text check (group_role in ('viewer', 'editor', 'owner')),
  created_at timestamptz not null default now(),
  primary key (org_id, member_id)
);

create index memberships_by_member on memberships (member_id);

comment on table memberships is 'A member''s role in an organization. An organization that has had an owner keeps one';
comment on column memberships.group_role is
  'the last role from groups of the OpenID provider. The role follows the groups while both are the same';

create table member_links (
  token_hash  bytea primary key check (octet_length(token_hash) = 32),
  id          uuid not null unique default gen_random_uuid(),
  kind        text not null check (kind in ('welcome', 'invitation', 'reset', 'email')),
  email       text,
  member_id   uuid references members (id) on delete cascade,
  org_id      uuid references organizations (id) on delete cascade,
  role        text check (role in ('viewer', 'editor', 'owner')),
  is_operator boolean not null default false,
  proves_email boolean not null default false,
  expires_at  timestamptz not null,
  used_at     timestamptz,
  created_at  timestamptz not null default now(),
  check ((role is null) = (org_id is null)),
  check ((kind in ('reset', 'email')) = (member_id is not null)),
  check ((kind in ('invitation', 'email')) = (email is not null))
);

create index member_links_by_organization on member_links (org_id) where org_id is not null;
create index member_links_by_member on member_links (member_id) where member_id is not null;
create index member_links_by_age on member_links (expires_at);

comment on table member_links is
  'A link for the first sign-up, an invitation, a new password or a new email, which works once. Only the SHA-256 of its token is stored';
comment on column member_links.id is 'identifies an invitation in lists';
comment on column member_links.email is 'address of an invited person, or the new address of a member';
comment on column member_links.member_id is 'member whose password or email the link changes';
comment on column member_links.org_id is 'organization of an invitation, if any';
comment on column member_links.is_operator is 'true if the link makes the person an operator';
comment on column member_links.proves_email is
  'true if the link was only mailed and never shown, so that using it proves the address';

create table sessions (
  token_hash   bytea primary key check (octet_length(token_hash) = 32),
  id           uuid not null unique default gen_random_uuid(),
  member_id    uuid not null references members (id) on delete cascade,
  proved_at    timestamptz not null default now(),
  used_at      timestamptz not null default now(),
  user_agent   text,
  address      text,
  awaits_code  boolean not null default false,
  created_at   timestamptz not null default now()
);

create index sessions_by_member on sessions (member_id);
create index sessions_by_age on sessions (used_at);

comment on table sessions is 'A signed-in browser. Only the SHA-256 of its cookie is stored';
comment on column sessions.id is 'identifies the session in lists';
comment on column sessions.proved_at is 'when the member last proved who they are, which actions of owners require';
comment on column sessions.used_at is 'last use, to the minute';
comment on column sessions.address is 'network address that the member signed in from';
comment on column sessions.awaits_code is 'true if the second step is missing. Such a session opens nothing else';

create table passkeys (
  id         text primary key,
  member_id  uuid not null references members (id) on delete cascade,
  name       text not null check (char_length(name) between 1 and 200),
  public_key bytea not null,
  counter    bigint not null default 0,
  transports text[] not null default '{}',
  used_at    timestamptz,
  created_at timestamptz not null default now()
);

create index passkeys_by_member on passkeys (member_id);

comment on table passkeys is 'A credential for sign-in without a password';
comment on column passkeys.id is 'the authenticator''s credential id, base64url';
comment on column passkeys.public_key is 'COSE key to verify signatures';
comment on column passkeys.counter is 'counter of the newest use. A smaller one reveals a cloned authenticator';
comment on column passkeys.transports is 'how browsers reach the authenticator';

create table recovery_codes (
  member_id uuid not null references members (id) on delete cascade,
  code_hash bytea not null check (octet_length(code_hash) = 32),
  used_at   timestamptz,
  primary key (member_id, code_hash)
);

comment on table recovery_codes is 'Codes that each replace a one-time code once';
comment on column recovery_codes.code_hash is 'SHA-256 of the code';

create table spent_handshakes (
  hash       bytea primary key check (octet_length(hash) = 32),
  expires_at timestamptz not null
);

create index spent_handshakes_by_age on spent_handshakes (expires_at);

comment on table spent_handshakes is
  'Used returns from an OpenID provider and used passkey answers, which count only once';
comment on column spent_handshakes.hash is 'hash of the cookie that bound the proof to its browser';
comment on column spent_handshakes.expires_at is 'when the proof would have expired';

create table proof_attempts (
  subject   text primary key,
  tried_at  timestamptz[] not null default '{}',
  newest_at timestamptz not null
);

create index proof_attempts_by_age on proof_attempts (newest_at);

comment on table proof_attempts is
  'Wrong attempts at sign-in, counted by account and network address. One row per subject, updated in place';
comment on column proof_attempts.subject is 'hash of the account, the account at an address, or the address';
comment on column proof_attempts.tried_at is 'times of attempts that were wrong or are being checked, oldest first';
comment on column proof_attempts.newest_at is 'when an attempt was last counted';

create table audit_events (
  id         uuid primary key default gen_random_uuid(),
  org_id     uuid references organizations (id) on delete cascade,
  at         timestamptz not null default now(),
  act        text not null,
  actor_kind text not null check (actor_kind in ('member', 'key', 'command', 'job', 'visitor')),
  actor_id   uuid,
  actor      text not null,
  target     text,
  target_id  text,
  details    jsonb not null default '{}',
  request_id text
);

create index audit_events_by_organization on audit_events (org_id, at desc, id desc);
create index audit_events_by_age on audit_events (at);
create index audit_events_of_retention on audit_events (org_id, at desc) where act = 'retention.applied';
create index audit_events_by_contact on audit_events (org_id, target_id) where target = 'contact';

comment on table audit_events is
  'Acts with actor and target, written in the act''s transaction. They are kept for 400 days, or fewer if there are too many';
comment on column audit_events.org_id is 'organization of the act. Null for acts on the deployment';
comment on column audit_events.act is 'name of the act, such as key.created';
comment on column audit_events.actor_id is 'id of the member or key. Null for the command line, jobs and visitors';
comment on column audit_events.actor is 'name of the actor at that time';
comment on column audit_events.target is 'kind of the target';
comment on column audit_events.target_id is 'id of the target, or the keyed hash of the address of an erased contact';
comment on column audit_events.details is 'context of the act. Never an address, a comment or a secret';
comment on column audit_events.request_id is 'id of the request, as in its response and in the log';

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
  'A key for programs that call the API. Only the SHA-256 of its secret part is stored, so that a leaked backup contains no usable key';
comment on column api_keys.public_id is 'the eight characters after ask_live_, to find the key';
comment on column api_keys.last_used_at is 'last use, to the minute';

create index api_keys_by_organization on api_keys (org_id);

create unlogged table rate_windows (
  subject text primary key,
  minute  timestamptz not null,
  count   integer not null
) with (fillfactor = 50);

comment on table rate_windows is
  'Requests in the current clock minute, with one row per subject that is updated in place. Unlogged, because counting must be fast and a crash may lose the counts of a minute';
comment on column rate_windows.subject is 'a key''s id, or a kind of request and a client address';
comment on column rate_windows.minute is 'start of the clock minute that is counted';

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

comment on table idempotency_keys is 'The response to a POST with an Idempotency-Key, for repeats';
comment on column idempotency_keys.name is 'the value of the header';
comment on column idempotency_keys.request_hash is 'SHA-256 of path, query and body, to detect the same name on another request';
comment on column idempotency_keys.status is 'status of the response. Null while the request is running';
comment on column idempotency_keys.answer is
  'the body, compressed and sealed, because it may contain a secret that is shown once. Null if there was no room for it';

-- Sums the sizes of a key's stored responses. Small ones are ignored.
create index idempotency_keys_by_size on idempotency_keys (key_id) include (answer_bytes) where answer_bytes > 1024;
create index idempotency_keys_by_age on idempotency_keys (created_at);

create table organization_writes (
  org_id   uuid primary key references organizations (id) on delete cascade,
  position pg_lsn not null
);

comment on table organization_writes is
  'The last write of an organization, stored while reads use a replica. Positions are only valid on this server';
comment on column organization_writes.position is 'WAL position of the primary after the last write, which a replica must have reached';
