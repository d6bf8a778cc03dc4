create table webhooks (
  id                     uuid primary key default gen_random_uuid(),
  org_id                 uuid not null references organizations (id) on delete cascade,
  url                    text not null,
  events                 text[] not null check (cardinality(events) > 0),
  description            text,
  secret                 bytea not null,
  previous_secret        bytea,
  previous_secret_until  timestamptz,
  retries                text not null default 'standard' check (retries in ('standard', 'extended')),
  active                 boolean not null default true,
  failure_count          integer not null default 0 check (failure_count >= 0),
  deactivated_at         timestamptz,
  deactivated_reason     text,
  last_delivery_at       timestamptz,
  undelivered_since      timestamptz not null default now(),
  created_at             timestamptz not null default now(),
  updated_at             timestamptz not null default now(),

  unique (org_id, id)
);

comment on table webhooks is 'A URL to which an organization''s events are posted';
comment on column webhooks.secret is 'the signing key, sealed';
comment on column webhooks.previous_secret is 'the previous signing key, sealed. Also signs until previous_secret_until';
comment on column webhooks.retries is
  'standard for one retry, off after 3 failed deliveries. Extended for retries over a day, off after 3 days as well';
comment on column webhooks.failure_count is 'deliveries that failed in a row, each after all its attempts';
comment on column webhooks.last_delivery_at is 'when an event was last accepted';
comment on column webhooks.undelivered_since is
  'when an event was last delivered or the webhook was turned on, whichever is later';

create index webhooks_newest_first on webhooks (org_id, created_at desc, id desc);

create table events (
  org_id      uuid not null references organizations (id) on delete cascade,
  id          uuid not null default id_at(now()),
  type        text not null,
  body        text not null,
  traceparent text,
  used_at     timestamptz not null default now(),
  erased_at   timestamptz,

  primary key (org_id, id)
);

comment on table events is 'An event for at least one webhook, shared by its deliveries';
comment on column events.body is 'the exact bytes that are signed and posted';
comment on column events.traceparent is 'the trace that the event began in';
comment on column events.used_at is 'when its newest delivery was created';
comment on column events.erased_at is 'when its body was erased with the person whose words it contained';

-- A delivery is stored here until its outcome, and then moves to ended_deliveries, so that the most frequent writes go
-- to a narrow table and ended deliveries are not rewritten. The statement that moves a delivery decides which process
-- wrote the outcome.
--
-- Each row is written to the WAL and to the table, so the order of the columns avoids padding, and the id alone
-- contains the creation time.
create table pending_deliveries (
  org_id          uuid not null,
  webhook_id      uuid not null,
  id              uuid not null default id_at(now()),
  event_id        uuid not null,
  message_id      uuid,
  next_attempt_at timestamptz,
  attempts        smallint not null default 0,
  status_code     smallint,
  is_test         boolean not null default false,
  is_replay       boolean not null default false,
  claimed_by      text,
  response_body   text,
  traceparent     text,

  check (attempts = 0 or next_attempt_at is not null),
  -- First attempts of a webhook in order of creation. Retries have an index on their time.
  primary key (webhook_id, attempts, id),
  foreign key (org_id, webhook_id) references webhooks (org_id, id) on delete cascade
);

comment on table pending_deliveries is 'An event for one webhook, without an outcome yet';
comment on column pending_deliveries.event_id is 'a row of events. No foreign key, which would slow down each insert';
comment on column pending_deliveries.message_id is
  'the webhook-id header of a redelivery, which is the id of the first delivery. Null for its own id';
comment on column pending_deliveries.next_attempt_at is 'when it is due. Null for immediately';
comment on column pending_deliveries.attempts is 'failed attempts';
comment on column pending_deliveries.is_test is 'true for a test, which never counts as success or failure';
comment on column pending_deliveries.is_replay is 'true if a replay created it. The original stays skipped or failed';
comment on column pending_deliveries.claimed_by is 'the worker pool that processes it';
comment on column pending_deliveries.response_body is 'beginning of the last response';
comment on column pending_deliveries.traceparent is 'its own trace, if it differs from the event''s';

create index retries_due on pending_deliveries (webhook_id, next_attempt_at) where attempts > 0;
create index retries_newest_first on pending_deliveries (webhook_id, id desc) where attempts > 0;
create index pending_deliveries_made_again on pending_deliveries (webhook_id, message_id) where message_id is not null;

create table ended_deliveries (
  org_id        uuid not null,
  webhook_id    uuid not null,
  id            uuid not null default id_at(now()),
  event_id      uuid not null,
  message_id    uuid,
  delivered_at  timestamptz,
  duration_ms   integer,
  attempts      smallint not null default 0,
  status_code   smallint,
  is_test       boolean not null default false,
  is_replay     boolean not null default false,
  undelivered   text check (undelivered in ('failed', 'skipped')),
  response_body text,
  traceparent   text,

  check ((undelivered is null) = (delivered_at is not null)),
  primary key (webhook_id, id),
  foreign key (org_id, webhook_id) references webhooks (org_id, id) on delete cascade
);

comment on table ended_deliveries is
  'An event for one webhook with its outcome. Columns are as in pending_deliveries. Only updated to erase the subscriber''s response';
comment on column ended_deliveries.duration_ms is 'duration of the successful attempt';
comment on column ended_deliveries.undelivered is 'failed, or skipped because the webhook was inactive. Null if it was delivered';

create index ended_deliveries_made_again on ended_deliveries (webhook_id, message_id) where message_id is not null;
create index ended_deliveries_missed on ended_deliveries (webhook_id, undelivered, id) where undelivered is not null;

create view deliveries as
  select org_id, webhook_id, id, event_id, coalesce(message_id, id) as message_id, 'pending' as status, attempts, status_code,
         response_body, null::integer as duration_ms, is_test, is_replay, time_of(id) as created_at,
         null::timestamptz as delivered_at, coalesce(next_attempt_at, time_of(id)) as next_attempt_at, claimed_by,
         coalesce(traceparent, (select e.traceparent from events e where e.org_id = d.org_id and e.id = d.event_id)) as traceparent,
         (select e.type from events e where e.org_id = d.org_id and e.id = d.event_id) as event,
         (select e.body from events e where e.org_id = d.org_id and e.id = d.event_id) as body,
         (select e.erased_at from events e where e.org_id = d.org_id and e.id = d.event_id) as erased_at
  from pending_deliveries d
  union all
  select org_id, webhook_id, id, event_id, coalesce(message_id, id), coalesce(undelivered, 'delivered'), attempts,
         status_code, response_body, duration_ms, is_test, is_replay, time_of(id),
         delivered_at, null, null,
         coalesce(traceparent, (select e.traceparent from events e where e.org_id = d.org_id and e.id = d.event_id)),
         (select e.type from events e where e.org_id = d.org_id and e.id = d.event_id),
         (select e.body from events e where e.org_id = d.org_id and e.id = d.event_id),
         (select e.erased_at from events e where e.org_id = d.org_id and e.id = d.event_id)
  from ended_deliveries d;

comment on view deliveries is
  'All deliveries, pending and ended, for reading. Queries need the webhook, because no index has the id alone';

create table delivery_attempts (
  org_id        uuid not null,
  webhook_id    uuid not null,
  delivery_id   uuid not null,
  number        smallint not null,
  status_code   smallint,
  response_body text,
  error         text,
  duration_ms   integer not null,
  at            timestamptz not null default now(),

  primary key (webhook_id, delivery_id, number),
  foreign key (org_id, webhook_id) references webhooks (org_id, id) on delete cascade
);

comment on table delivery_attempts is
  'A failed POST. A successful one is stored in the row of its delivery, and most deliveries have no other';
comment on column delivery_attempts.delivery_id is 'a row of pending_deliveries, later of ended_deliveries';
comment on column delivery_attempts.error is 'why there was no response';
comment on column delivery_attempts.at is 'when it ended';
