-- Subscriptions, the events they get, and every attempt to deliver them.

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

comment on table webhooks is
  'A subscription: which events of an organization are posted where';
comment on column webhooks.url is 'where events are posted';
comment on column webhooks.events is 'names of the events it gets';
comment on column webhooks.description is 'what the organization wrote about it';
comment on column webhooks.secret is 'the key that signs, sealed';
comment on column webhooks.previous_secret is 'the key before it, sealed: signs too until its time is over';
comment on column webhooks.previous_secret_until is 'when that time is over';
comment on column webhooks.retries is
  'standard: one retry, off after 3 failed deliveries; extended: retries for a day, off after 3 days as well';
comment on column webhooks.active is 'whether events are posted';
comment on column webhooks.failure_count is 'deliveries that failed in a row, each after all its attempts';
comment on column webhooks.deactivated_at is 'when it was deactivated';
comment on column webhooks.deactivated_reason is 'why it was deactivated';
comment on column webhooks.last_delivery_at is 'when an event was last accepted';
comment on column webhooks.undelivered_since is
  'when an event was last delivered or it was switched on, whichever is later: nothing was delivered since';

create index webhooks_newest_first on webhooks (org_id, created_at desc, id desc);

create table deliveries (
  id              uuid not null default gen_random_uuid(),
  org_id          uuid not null,
  webhook_id      uuid not null,
  message_id      uuid not null,
  event           text not null,
  body            text not null,
  status          text not null default 'pending' check (status in ('pending', 'delivered', 'failed', 'skipped')),
  attempts        smallint not null default 0,
  status_code     smallint,
  response_body   text,
  duration_ms     integer,
  traceparent     text,
  is_replay       boolean not null default false,
  created_at      timestamptz not null default now(),
  delivered_at    timestamptz,
  next_attempt_at timestamptz,
  claimed_by      text,
  erased_at       timestamptz,

  primary key (org_id, id),
  check ((status = 'pending') = (next_attempt_at is not null)),
  foreign key (org_id, webhook_id) references webhooks (org_id, id) on delete cascade
) with (fillfactor = 70);

comment on table deliveries is
  'An event for one webhook';
comment on column deliveries.message_id is 'the webhook-id header: the same for a redelivery';
comment on column deliveries.event is 'name of the event';
comment on column deliveries.body is 'the exact bytes that are signed and posted';
comment on column deliveries.is_replay is 'made by a replay; its original stays skipped or failed';
comment on column deliveries.status is 'skipped: the webhook was not active';
comment on column deliveries.attempts is 'attempts made';
comment on column deliveries.status_code is 'of the last attempt';
comment on column deliveries.response_body is 'beginning of the last answer';
comment on column deliveries.duration_ms is 'how long the attempt took that delivered it';
comment on column deliveries.traceparent is 'the trace that the event began in';
comment on column deliveries.delivered_at is 'when it was accepted';
comment on column deliveries.next_attempt_at is 'when it is due; set as long as it is pending';
comment on column deliveries.erased_at is 'when its body was erased, because it carried words of a person who was erased';
comment on column deliveries.claimed_by is 'the worker pool that has it in flight';

create index deliveries_newest_first on deliveries (webhook_id, created_at desc, id desc);
create index deliveries_due on deliveries (webhook_id, next_attempt_at) where status = 'pending';
-- Retries that are due go before anything else, also from behind a long backlog.
create index deliveries_retries_due on deliveries (webhook_id, next_attempt_at)
  where status = 'pending' and attempts > 0;

create table delivery_attempts (
  org_id        uuid not null,
  delivery_id   uuid not null,
  number        smallint not null,
  status_code   smallint,
  response_body text,
  error         text,
  duration_ms   integer not null,
  at            timestamptz not null default now(),

  primary key (org_id, delivery_id, number),
  foreign key (org_id, delivery_id) references deliveries (org_id, id) on delete cascade
);

comment on table delivery_attempts is
  'A POST that failed. The one that delivered is in the row of its delivery: most have no other';
comment on column delivery_attempts.number is 'counted from 1';
comment on column delivery_attempts.status_code is 'status of the answer';
comment on column delivery_attempts.response_body is 'beginning of the answer';
comment on column delivery_attempts.error is 'why there was no answer';
comment on column delivery_attempts.duration_ms is 'until the answer or the error';
comment on column delivery_attempts.at is 'when it ended';
