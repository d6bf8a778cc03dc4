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
comment on column members.email_key is 'the address in lower case, by which members are found';
comment on column members.password_hash is 'argon2id with its parameters and salt; without one there is no sign-in by password';
comment on column members.totp_secret is 'secret of the one-time codes, sealed; it counts once totp_since is set';
comment on column members.totp_since is 'when the first code proved that the secret has arrived';
comment on column members.totp_step is 'time step of the newest code that was accepted: a code works once';
comment on column members.sso_issuer is 'OpenID provider that the person signs in with';
comment on column members.sso_subject is 'the person''s id at that provider';
comment on column members.email_proved_at is
  'when the person first proved that the address is theirs: by a link that was only mailed, or by the OpenID provider';
comment on column members.is_operator is 'whether the person runs the deployment';
comment on column members.name is 'as other members see it';
comment on column members.email is 'as it was typed; mails go there';

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
  'role that the groups of the OpenID provider gave last. It follows the groups as long as the role is still this one';
comment on column memberships.role is 'viewer, editor or owner';

create table member_links (
  token_hash  bytea primary key check (octet_length(token_hash) = 32),
  id          uuid not null unique default gen_random_uuid(),
  kind        text not null check (kind in ('welcome', 'invitation', 'reset')),
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
  check ((kind = 'reset') = (member_id is not null)),
  check ((kind = 'invitation') = (email is not null))
);

create index member_links_by_organization on member_links (org_id) where org_id is not null;
create index member_links_by_member on member_links (member_id) where member_id is not null;
create index member_links_by_age on member_links (expires_at);

comment on table member_links is
  'A link that works once: the first sign-up, an invitation, a new password. Only the hash of its token is stored';
comment on column member_links.id is 'names an invitation where it is listed and withdrawn';
comment on column member_links.email is 'address that an invitation is for';
comment on column member_links.member_id is 'member whose password a reset changes';
comment on column member_links.org_id is 'organization that an invitation leads to, if any';
comment on column member_links.expires_at is 'when it stops working';
comment on column member_links.is_operator is 'whether it makes the person an operator';
comment on column member_links.proves_email is
  'whether it was only mailed and never shown: using it proves that the address is the person''s';
comment on column member_links.kind is 'welcome, invitation or reset';
comment on column member_links.role is 'role in the organization that an invitation leads to';
comment on column member_links.token_hash is 'SHA-256 of what stands in the link';
comment on column member_links.used_at is 'when it was used: it works once';

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

comment on table sessions is 'A browser that is signed in. Only the hash of its cookie is stored';
comment on column sessions.id is 'names the session where it is listed and ended';
comment on column sessions.proved_at is 'when the member last gave a proof, such as a password: acts of an owner need a recent one';
comment on column sessions.used_at is 'last use, kept to the minute';
comment on column sessions.awaits_code is 'whether the second step is still missing: such a session opens nothing but that step';
comment on column sessions.address is 'network address that the member signed in from';
comment on column sessions.token_hash is 'SHA-256 of the cookie';
comment on column sessions.user_agent is 'what the browser says it is';

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

comment on table passkeys is 'A credential that a member signs in with in place of a password';
comment on column passkeys.id is 'the credential id that the authenticator gave, base64url';
comment on column passkeys.name is 'what its member calls it';
comment on column passkeys.public_key is 'what its signatures are checked with, as COSE';
comment on column passkeys.transports is 'how browsers reach the authenticator';
comment on column passkeys.used_at is 'when it last signed its member in';
comment on column passkeys.counter is 'counter of the newest use; a smaller one shows a copy of the authenticator';

create table recovery_codes (
  member_id uuid not null references members (id) on delete cascade,
  code_hash bytea not null check (octet_length(code_hash) = 32),
  used_at   timestamptz,
  primary key (member_id, code_hash)
);

comment on table recovery_codes is 'Codes of which each replaces a one-time code once';
comment on column recovery_codes.code_hash is 'SHA-256 of the code';
comment on column recovery_codes.used_at is 'when it was used: it works once';

create table spent_handshakes (
  hash       bytea primary key check (octet_length(hash) = 32),
  expires_at timestamptz not null
);

create index spent_handshakes_by_age on spent_handshakes (expires_at);

comment on table spent_handshakes is
  'Second halves of proofs that have been used: a return from an OpenID provider, a passkey''s answer. Each counts once';
comment on column spent_handshakes.hash is 'hash of the cookie that bound the proof to its browser';
comment on column spent_handshakes.expires_at is 'when it would have stopped working anyway';

create table proof_attempts (
  subject   text primary key,
  tried_at  timestamptz[] not null default '{}',
  newest_at timestamptz not null
);

create index proof_attempts_by_age on proof_attempts (newest_at);

comment on table proof_attempts is
  'Wrong proofs at sign-in, counted by account and network address. One row for each subject, updated in place';
comment on column proof_attempts.subject is 'hash of what is counted: an account, an account at an address, an address';
comment on column proof_attempts.tried_at is
  'times of the proofs that count, oldest first: those that were wrong or are being checked';
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
  'Acts with their actor and target, written in the transaction of the act itself and kept 400 days, or the newest of very many';
comment on column audit_events.org_id is 'organization that was acted on; none for acts on the deployment';
comment on column audit_events.act is 'name of the act, such as key.created';
comment on column audit_events.actor is 'name of the actor at that time';
comment on column audit_events.target is 'kind of the thing that was acted on';
comment on column audit_events.actor_kind is 'member, key, command, job or visitor';
comment on column audit_events.at is 'when it was done';
comment on column audit_events.request_id is 'the request that carried the act, as its answer and the log name it';
comment on column audit_events.target_id is 'id of the thing that was acted on; of a contact of an erased person the keyed hash of the address';
comment on column audit_events.details is 'what helps to understand the act later; never an address, a comment or a secret';
comment on column audit_events.actor_id is 'id of the member or key; the command line, jobs and visitors have none';
