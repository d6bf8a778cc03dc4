-- Comments that wait to be analyzed: claimed organization by organization, so that the history of one delays no comment of another.

create table waiting_analyses (
  org_id      uuid not null,
  response_id uuid not null,
  is_history  boolean not null default false,
  due_at      timestamptz not null default now(),
  tries       smallint not null default 0,
  asked_at    timestamptz,
  traceparent text,
  created_at  timestamptz not null default now(),
  claimed_by  text,

  primary key (org_id, response_id),
  foreign key (org_id, response_id) references responses (org_id, id) on delete cascade
);

comment on table waiting_analyses is
  'A response whose comment is still to be analyzed';
comment on column waiting_analyses.is_history is 'imported or asked for again: comes after the new ones of its organization';
comment on column waiting_analyses.due_at is 'not before this time';
comment on column waiting_analyses.tries is 'how often it was tried, all without an answer of the analyst';
comment on column waiting_analyses.asked_at is 'when it was asked for again: an analysis from before then is made again';
comment on column waiting_analyses.traceparent is 'the span that causes it';
comment on column waiting_analyses.claimed_by is 'the worker pool that has it in flight';

create index waiting_analyses_due on waiting_analyses (org_id, is_history, due_at);
