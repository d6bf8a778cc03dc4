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

comment on table analyses is
  'What was read out of the comment of a response';
comment on column analyses.sentiment is 'positive, negative, mixed or neutral';
comment on column analyses.themes is 'names of the themes it speaks of';
comment on column analyses.churn_risk is 'how likely the contact is to leave';
comment on column analyses.summary is 'the comment in short';
comment on column analyses.provider is 'what made the analysis';
comment on column analyses.analyzed_at is 'when the analysis was made';

create table themes (
  id         uuid primary key default gen_random_uuid(),
  org_id     uuid not null references organizations (id) on delete cascade,
  name       text not null check (char_length(name) between 1 and 100),
  words      text[] not null check (cardinality(words) > 0),
  created_at timestamptz not null default now()
);

comment on table themes is
  'A theme that an organization looks for in comments';
comment on column themes.name is 'as reports show it';
comment on column themes.words is 'words that stand for it';

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

comment on table summaries is
  'A report over a period';
comment on column summaries.report_type is 'which report';
comment on column summaries.scheduled is 'whether the schedule asked for it: once a period';
comment on column summaries.period_start is 'first moment of the period';
comment on column summaries.period_end is 'first moment after it';
comment on column summaries.nps is 'of the period';
comment on column summaries.previous_nps is 'of the period before';
comment on column summaries.responses is 'that count in the period';
comment on column summaries.top_themes is 'names of the themes most spoken of';
comment on column summaries.text is 'the report';

create unique index summaries_once_a_period on summaries (org_id, report_type, period_start, period_end) where scheduled;
create index summaries_newest_first on summaries (org_id, created_at desc, id desc);
