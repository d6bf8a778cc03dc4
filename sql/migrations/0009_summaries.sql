-- What is read out of comments: an analysis of each, themes an organization looks for, and reports
-- over a period.

create table analyses (
  org_id      uuid not null,
  response_id uuid not null,
  sentiment   text,
  themes      text[] not null default '{}',
  churn_risk  text,
  summary     text,
  provider    text not null,
  analyzed_at timestamptz not null default now(),

  primary key (org_id, response_id),
  foreign key (org_id, response_id) references responses (org_id, id) on delete cascade
);

create table themes (
  id         uuid primary key default gen_random_uuid(),
  org_id     uuid not null references organizations (id) on delete cascade,
  name       text not null check (char_length(name) between 1 and 100),
  words      text[] not null check (cardinality(words) > 0),
  created_at timestamptz not null default now()
);

create unique index themes_one_per_name on themes (org_id, lower(name));

create table summaries (
  id           uuid primary key default gen_random_uuid(),
  org_id       uuid not null references organizations (id) on delete cascade,
  report_type  text not null default 'executive-summary',
  scheduled    boolean not null default false,
  period_start timestamptz not null,
  period_end   timestamptz not null,
  nps          integer,
  previous_nps integer,
  responses    integer not null,
  top_themes   text[] not null default '{}',
  text         text not null,
  created_at   timestamptz not null default now()
);

create unique index summaries_once_a_period on summaries (org_id, report_type, period_start, period_end) where scheduled;
create index summaries_newest_first on summaries (org_id, created_at desc, id desc);
