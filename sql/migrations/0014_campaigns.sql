-- Campaigns mail a survey to all of its contacts that are still to be asked, over hours or days if need be. What asks
-- by itself and what reminds is kept in the same way: one row for each survey, whose contacts are added as they fall due.
-- A campaign's mails are rows of `mails`, claimed in batches: the id of a batch is their request_id.

create table campaigns (
  id            uuid primary key default gen_random_uuid(),
  org_id        uuid not null,
  survey_id     uuid not null,
  kind          text not null default 'campaign' check (kind in ('campaign', 'asking', 'reminder')),
  reminder      smallint not null default 0 check (reminder between 0 and 3),
  after_days    integer,
  name          text not null check (char_length(name) between 1 and 200),
  status        text not null check (status in ('scheduled', 'running', 'paused', 'finished', 'stopped', 'refused')),
  send_at       timestamptz,
  per_hour      integer check (per_hour between 1 and 1000000),
  reason        text,
  month         date,
  total         integer not null default 0,
  duplicates    integer not null default 0,
  invalid       integer not null default 0,
  waiting       integer not null default 0 check (waiting >= 0),
  turn          integer not null default 0,
  next_at       timestamptz,
  next_mail_at  timestamptz,
  seen_until    timestamptz,
  created_at    timestamptz not null default now(),
  started_at    timestamptz,
  finished_at   timestamptz,

  check ((kind = 'reminder') = (reminder > 0)),
  foreign key (org_id, survey_id) references surveys (org_id, id) on delete cascade,
  unique (org_id, id)
);

comment on table campaigns is
  'A survey mailed to many contacts step by step: all that are still to be asked, those that fall due by themselves, or those that are reminded';
comment on column campaigns.kind is 'campaign: somebody started it; asking, reminder: what a survey does by itself, one row each';
comment on column campaigns.reminder is 'which reminder it is, for those';
comment on column campaigns.after_days is 'after how many days it reminds';
comment on column campaigns.reason is 'why it was refused, or stopped by itself';
comment on column campaigns.month is 'whose quota its mails take';
comment on column campaigns.total is 'contacts that were judged';
comment on column campaigns.duplicates is 'contacts that a rule kept from being mailed, before their mail was claimed';
comment on column campaigns.invalid is 'contacts whose address cannot be mailed';
comment on column campaigns.waiting is 'contacts whose mail is not claimed yet; until it ends, the quota of these mails is reserved';
comment on column campaigns.turn is 'number of the job that may go on with it: pausing, resuming and stopping end the turn of the one before';
comment on column campaigns.next_at is 'when that job is due';
comment on column campaigns.next_mail_at is 'when its pace allows the next mail';
comment on column campaigns.seen_until is 'contacts that were added, or mails that were claimed, before this are done with, for what a survey does by itself';
comment on column campaigns.finished_at is 'when it ended, in whatever way';
comment on column campaigns.name is 'as lists show it';
comment on column campaigns.started_at is 'when its contacts were judged';
comment on column campaigns.status is 'scheduled, running, paused, finished, stopped or refused';
comment on column campaigns.send_at is 'when it is to begin; without a time at once';
comment on column campaigns.per_hour is 'mails an hour at most; without a number there is no such pace';

create index campaigns_newest_first on campaigns (survey_id, created_at desc, id desc) where kind = 'campaign';
create unique index campaigns_by_itself on campaigns (survey_id, kind, reminder) where kind <> 'campaign';
create index campaigns_due on campaigns (next_at) where status in ('scheduled', 'running');

create table campaign_batches (
  id          uuid primary key,
  org_id      uuid not null,
  campaign_id uuid not null,
  mails       integer not null check (mails >= 0),
  sent        integer,
  blocked     integer,
  failed      integer,
  claimed_at  timestamptz not null default now(),
  ended_at    timestamptz,

  check ((ended_at is null) = (sent is null) and (ended_at is null) = (blocked is null) and (ended_at is null) = (failed is null)),
  foreign key (org_id, campaign_id) references campaigns (org_id, id) on delete cascade
);

comment on table campaign_batches is
  'Mails of a campaign that were claimed together. Their outcomes are counted in mails until all have one, and here after that';
comment on column campaign_batches.id is 'request_id of its mails';
comment on column campaign_batches.mails is 'how many were claimed and not withdrawn';
comment on column campaign_batches.blocked is 'mails that a rule blocked after the claim, or whose contact was deleted';
comment on column campaign_batches.ended_at is 'when all of them had an outcome';
comment on column campaign_batches.claimed_at is 'when its mails were claimed';
comment on column campaign_batches.sent is 'how many of its mails were sent; counted once all have an outcome';
comment on column campaign_batches.failed is 'how many of its mails failed; counted once all have an outcome';

create index campaign_batches_by_campaign on campaign_batches (campaign_id);
create index campaign_batches_open on campaign_batches (claimed_at) where ended_at is null;

create table campaign_contacts (
  id          uuid primary key default gen_random_uuid(),
  org_id      uuid not null,
  survey_id   uuid not null,
  campaign_id uuid not null,
  contact_id  uuid not null,
  batch_id    uuid,
  reason_code text,
  reason      text,
  created_at  timestamptz not null default now(),

  constraint campaign_contacts_once unique (contact_id, campaign_id),
  foreign key (org_id, campaign_id) references campaigns (org_id, id) on delete cascade,
  foreign key (org_id, survey_id, contact_id) references contacts (org_id, survey_id, id) on delete cascade
);

comment on table campaign_contacts is
  'A contact that a campaign has judged: its mail waits, was claimed, or is blocked by a rule';
comment on column campaign_contacts.batch_id is 'batch with which its mail was claimed';
comment on column campaign_contacts.reason_code is 'rule that blocked the mail';
comment on column campaign_contacts.reason is 'that rule in words';

create index campaign_contacts_newest_first on campaign_contacts (campaign_id, created_at desc, id desc);
create index campaign_contacts_waiting on campaign_contacts (campaign_id, id) where batch_id is null and reason_code is null;
