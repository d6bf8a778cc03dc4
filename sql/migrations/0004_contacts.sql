-- The contacts that a survey is sent to.
-- A contact's row changes when its mail goes out and when it responds. With room in its page, and with no index that
-- depends on the status, a change stays in its page and touches no index. Outcomes of up to a hundred mails are
-- written at once: that is each contact of a page in one statement, and each needs room for its next version.

create extension if not exists pg_trgm;
create extension if not exists btree_gin;

create table contacts (
  id             uuid primary key default id_at(clock_timestamp()),
  org_id         uuid not null,
  survey_id      uuid not null,
  email          text not null,
  email_key      text not null generated always as (lower(email)) stored,
  name           text,
  properties     jsonb not null default '{}',
  status         text not null default 'pending'
    check (status in ('pending', 'sending', 'sent', 'responded', 'failed', 'bounced', 'unsubscribed')),
  failure_reason text,
  token          text not null unique,
  sent_at        timestamptz,
  responded_at   timestamptz,
  created_at     timestamptz not null default now(),
  updated_at     timestamptz not null default now(),

  foreign key (org_id, survey_id) references surveys (org_id, id) on delete cascade,
  unique (org_id, survey_id, id)
) with (fillfactor = 50);

comment on table contacts is
  'A contact of one survey: an address that is asked once';
comment on column contacts.id is 'begins with the time of its making, so that new rows stand together in its indexes';
comment on column contacts.email is 'as it was given';
comment on column contacts.email_key is 'the address in lower case, by which addresses are compared';
comment on column contacts.name is 'as it was given, for the greeting';
comment on column contacts.properties is 'custom fields that the organization keeps with the contact';
comment on column contacts.status is 'how far the survey has come with this contact';
comment on column contacts.failure_reason is 'why its mail failed or bounced';
comment on column contacts.token is 'the part of the personal link that names the contact';
comment on column contacts.sent_at is 'when its first mail was accepted by the mail server';
comment on column contacts.responded_at is 'when its response was recorded';

-- One row per address and survey, whatever its case.
create unique index contacts_one_per_email on contacts (survey_id, email_key);
create index contacts_newest_first on contacts (org_id, created_at desc, id desc);
-- Of the id as text: a plan that was made while the table was small must not take this index to find an address.
create index contacts_of_survey on contacts ((survey_id::text), created_at desc, id desc);
create index contacts_by_email on contacts (org_id, email_key);
create index contacts_search on contacts using gin (org_id, (email || ' ' || coalesce(name, '')) gin_trgm_ops);
