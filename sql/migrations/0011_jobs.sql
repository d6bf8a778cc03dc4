-- Work to be done: written in the transaction that causes it, handed to the queue after its commit.

create table outbox (
  id         bigint generated always as identity primary key,
  task       text not null,
  payload    json not null,
  run_at     timestamptz,
  created_at timestamptz not null default now()
);

-- The worker pools of live processes. Each holds an advisory lock as long as it lives; who gets a
-- dead one's lock takes its jobs over.
create table worker_pools (
  pool_id    text primary key,
  lock_key   bigint not null unique,
  started_at timestamptz not null default now()
);

-- What a running service tells the command line about itself.
create table service_record (
  is_singleton boolean primary key default true check (is_singleton),
  public_url   text not null,
  updated_at   timestamptz not null default now()
);
