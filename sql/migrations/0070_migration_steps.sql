-- Steps of migrations: work over filled tables, which the service does by and by after it has started.

create table migration_steps (
  name           text primary key,
  sha256         text not null,
  unit           text not null,
  added_at       timestamptz not null default now(),
  started_at     timestamptz,
  worker         text,
  last_key       jsonb,
  rows_done      bigint not null default 0,
  rows_estimated bigint,
  progressed_at  timestamptz,
  failures       integer not null default 0,
  failure        text,
  retry_at       timestamptz,
  ended_at       timestamptz
);

comment on table migration_steps is
  'What a migration leaves to be done over filled tables while the service serves, and how far it is';
comment on column migration_steps.name is 'its file in sql/steps, without the ending';
comment on column migration_steps.sha256 is 'of its text: a step with another text begins again, unless it has ended';
comment on column migration_steps.unit is 'what its rows are: days, indexes, constraints';
comment on column migration_steps.added_at is 'when the migration left it';
comment on column migration_steps.started_at is 'when its first batch began';
comment on column migration_steps.worker is 'version, machine and process that worked on it last';
comment on column migration_steps.last_key is 'where its last batch ended; the next one begins after it';
comment on column migration_steps.rows_done is 'rows of all batches that have committed';
comment on column migration_steps.rows_estimated is 'how many rows there were when it began; null: not known';
comment on column migration_steps.progressed_at is 'when the last batch committed';
comment on column migration_steps.failures is 'failed tries since the last batch that committed';
comment on column migration_steps.failure is 'why the last try failed, without what rows contain';
comment on column migration_steps.retry_at is 'when it is tried again after a failure';
comment on column migration_steps.ended_at is 'when it ended; null: it has not';

-- For statements that need what a step makes: until it has ended they do without. Before the migration that leaves the
-- step it has not ended.
create function migration_step_ended(step text) returns boolean
language sql stable
return exists (select from migration_steps where name = step and ended_at is not null);
