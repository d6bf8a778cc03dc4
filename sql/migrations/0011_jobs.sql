-- Processes that live, which what they claimed depends on.

create table worker_pools (
  pool_id    text primary key,
  lock_key   bigint not null unique,
  program    text,
  started_at timestamptz not null default now()
);

comment on table worker_pools is
  'The worker pool of a live process. It holds an advisory lock as long as it runs; the pool that gets the lock of a dead one takes over its jobs';
comment on column worker_pools.pool_id is 'the name it claims jobs and deliveries under';
comment on column worker_pools.lock_key is 'the advisory lock';
comment on column worker_pools.program is 'the program of its process, with its version';
comment on column worker_pools.started_at is 'when its process began to run jobs';

create table service_record (
  is_singleton boolean primary key default true check (is_singleton),
  public_url   text not null,
  updated_at   timestamptz not null default now()
);

comment on table service_record is
  'What a running service leaves for commands to read';
comment on column service_record.is_singleton is 'keeps it at one row';
comment on column service_record.public_url is 'the address that its links begin with';
