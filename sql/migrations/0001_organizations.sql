-- Organizations own everything else.

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

-- Mails that count against an organization's limit, by calendar month (UTC). The row is the lock
-- under which a send reserves its quota.
create table mail_usage (
  org_id uuid not null references organizations (id) on delete cascade,
  month  date not null,
  used   integer not null default 0 check (used >= 0),
  primary key (org_id, month)
);
