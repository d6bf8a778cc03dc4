-- Organizations own everything else.

create table organizations (
  id                 uuid primary key default gen_random_uuid(),
  name               text not null check (char_length(name) between 1 and 200),
  slug               text not null check (slug ~ '^[a-z0-9]+(-[a-z0-9]+)*$' and char_length(slug) <= 80),
  color              text not null default '#2f6fed' check (color ~ '^#[0-9A-Fa-f]{6}$'),
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
  created_at         timestamptz not null default now(),
  updated_at         timestamptz not null default now(),

  constraint organizations_have_distinct_slugs unique (slug)
);

comment on table organizations is
  'A customer of the deployment. Everything else belongs to one';
comment on column organizations.name is 'as pages and mails show it';
comment on column organizations.slug is 'its name in the addresses of the app';
comment on column organizations.color is 'of its pages and mails, as #rrggbb';
comment on column organizations.logo is 'name of its logo in addresses, made of a hash of the picture; without one there is none';
comment on column organizations.language is 'of new surveys, as a BCP 47 tag';
comment on column organizations.postal_address is 'at the foot of its mails; lines';
comment on column organizations.mail_foot is 'its own words at the foot of its mails; lines';
comment on column organizations.time_zone is 'IANA name: days and months of its reports';
comment on column organizations.contact_email is 'where mails about its webhooks and reports go';
comment on column organizations.people is 'names to redact, in addition to the contact''s and the sender''s';
comment on column organizations.monthly_send_limit is 'mails of a calendar month';
comment on column organizations.frequency_days is 'days between two mails to one address; without a number there is no such rule';
comment on column organizations.keep_comments_days is 'days after which comments are deleted; without a number never';
comment on column organizations.keep_contacts_days is 'days without activity after which contacts are deleted; without a number never';
comment on column organizations.keep_openings_days is 'days after which visits of links are deleted, 90 at most';
comment on column organizations.keep_mails_days is 'days after which the log of mails is deleted; without a number never';
comment on column organizations.address_key is 'random: hashes of erased addresses are keyed with it, so that they are the same in every backup';
comment on column organizations.ai_enabled is 'whether comments are analyzed and reports written';

create table mail_usage (
  org_id uuid not null references organizations (id) on delete cascade,
  month  date not null,
  used   integer not null default 0 check (used >= 0),
  primary key (org_id, month)
);

comment on table mail_usage is
  'Mails that count against an organization''s limit. The row is the lock under which a send reserves its quota';
comment on column mail_usage.month is 'first day of the calendar month, UTC';
comment on column mail_usage.used is 'mails reserved or sent in it';

create table former_slugs (
  slug   text primary key,
  org_id uuid not null references organizations (id) on delete cascade
);

create index former_slugs_by_organization on former_slugs (org_id);

comment on table former_slugs is 'Earlier slugs of organizations: addresses with them lead to the present ones';
comment on column former_slugs.slug is 'as it was in addresses';

create table organization_logos (
  org_id     uuid primary key references organizations (id) on delete cascade,
  type       text not null check (type in ('image/png', 'image/jpeg', 'image/webp')),
  width      integer not null check (width > 0),
  height     integer not null check (height > 0),
  bytes      bytea not null check (octet_length(bytes) <= 262144),
  changed_at timestamptz not null default now()
);

comment on table organization_logos is 'The picture that an organization shows on its pages and mails';
comment on column organization_logos.bytes is 'the file as it was uploaded';
comment on column organization_logos.changed_at is 'when it was uploaded';
comment on column organization_logos.height is 'in pixels, read from the file';
comment on column organization_logos.type is 'media type, read from the file';
comment on column organization_logos.width is 'in pixels, read from the file';
