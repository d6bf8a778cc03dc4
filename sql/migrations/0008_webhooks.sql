-- Subscriptions, the events they are told, and every attempt to tell them.

create table webhooks (
  id                     uuid primary key default gen_random_uuid(),
  org_id                 uuid not null references organizations (id) on delete cascade,
  url                    text not null,
  events                 text[] not null check (cardinality(events) > 0),
  description            text,
  secret                 bytea not null,             -- sealed
  previous_secret        bytea,                      -- sealed; signs too until its time is over
  previous_secret_until  timestamptz,
  active                 boolean not null default true,
  failure_count          integer not null default 0 check (failure_count >= 0),
  deactivated_at         timestamptz,
  deactivated_reason     text,
  last_delivery_at       timestamptz,
  created_at             timestamptz not null default now(),
  updated_at             timestamptz not null default now(),

  unique (org_id, id)
);

create index webhooks_newest_first on webhooks (org_id, created_at desc, id desc);

create table deliveries (
  id              uuid not null default gen_random_uuid(),
  org_id          uuid not null,
  webhook_id      uuid not null,
  message_id      uuid not null,                     -- webhook-id: the same for a redelivery
  event           text not null,
  body            text not null,                     -- the exact bytes that are signed and sent
  status          text not null default 'pending' check (status in ('pending', 'delivered', 'failed', 'skipped')),
  attempts        smallint not null default 0,
  status_code     smallint,
  response_body   text,
  traceparent     text,
  created_at      timestamptz not null default now(),
  delivered_at    timestamptz,
  next_attempt_at timestamptz,
  claimed_by      text,                              -- the worker pool that has it in hand, while that lives

  primary key (org_id, id),
  check ((status = 'pending') = (next_attempt_at is not null)),
  foreign key (org_id, webhook_id) references webhooks (org_id, id) on delete cascade
) with (fillfactor = 70);

create index deliveries_newest_first on deliveries (webhook_id, created_at desc, id desc);
create index deliveries_due on deliveries (webhook_id, next_attempt_at) where status = 'pending';
-- Retries that are due go before anything else, also from behind a long backlog.
create index deliveries_retries_due on deliveries (webhook_id, next_attempt_at)
  where status = 'pending' and attempts > 0;
create index deliveries_by_age on deliveries (created_at);

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
