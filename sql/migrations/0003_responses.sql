create table responses (
  id            uuid not null default gen_random_uuid(),
  org_id        uuid not null,
  survey_id     uuid not null,
  contact_id    uuid,
  round         smallint,
  source        text not null default 'link' check (source in ('link', 'share', 'import')),
  score         smallint not null check (score between 0 and 10),
  category      text not null check (category in ('promoter', 'passive', 'detractor')),
  comment       text check (char_length(comment) <= 5000),
  language      text,
  properties    jsonb check (jsonb_typeof(properties) = 'object'),
  held_reason   text,
  chosen_state  text check (chosen_state in ('none', 'open', 'done')),
  state         text generated always as (
    nullif(coalesce(chosen_state, case when category = 'detractor' then 'open' end), 'none')) stored,
  owner_id      uuid,
  traceparent   text,
  created_at    timestamptz not null default now(),

  primary key (org_id, id),
  foreign key (org_id, survey_id) references surveys (org_id, id) on delete cascade,
  constraint responses_belong_to_contact
    foreign key (org_id, survey_id, contact_id) references contacts (org_id, survey_id, id) on delete cascade,
  constraint responses_have_members_as_owners
    foreign key (org_id, owner_id) references memberships (org_id, member_id) on delete set null (owner_id)
);

comment on table responses is
  'A response to a survey. Responses that seem to come from a machine are on hold: they are listed separately and do not count';
comment on column responses.contact_id is 'the contact of the personal link. Null for the shareable link';
comment on column responses.round is 'the round of its contact. Null without a contact';
comment on column responses.source is 'link (personal), share (shareable link) or import';
comment on column responses.score is 'on the survey''s own scale';
comment on column responses.language is 'language of the page. Null for imports';
comment on column responses.properties is 'of its contact at the time, of the imported row, or from the website';
comment on column responses.held_reason is 'why it is on hold. Null for responses that count';
comment on column responses.chosen_state is 'the state that a member has set. Null if it follows from the category';
comment on column responses.state is 'state of the follow-up, open or done. Detractors start as open, others without a state';
comment on column responses.owner_id is 'the member who follows up';
comment on column responses.traceparent is 'the trace of the request that recorded it';

-- A contact answers once through its link, and has a row for each round. Imported responses may cover years.
create unique index responses_one_per_contact on responses (contact_id) where source = 'link';
create index responses_by_contact on responses (contact_id);
create index responses_newest_first on responses (org_id, created_at desc, id desc) where held_reason is null;
create index responses_by_survey on responses (org_id, survey_id, created_at desc, id desc) include (score) where held_reason is null;
create index responses_by_category on responses (org_id, category, created_at desc, id desc) where held_reason is null;
create index responses_by_survey_and_category on responses (org_id, survey_id, category, created_at desc, id desc) where held_reason is null;
create index responses_by_round on responses (org_id, survey_id, round, created_at desc, id desc) include (score, category) where held_reason is null and round > 1;
create index responses_held on responses (org_id, created_at desc, id desc) where held_reason is not null;
create index responses_commented on responses (org_id, created_at desc, id desc) include (survey_id, category) where held_reason is null and comment is not null;
create index responses_by_language on responses (org_id, language, created_at desc, id desc) include (survey_id, category) where held_reason is null and language is not null;
create index responses_by_state on responses (org_id, state, created_at desc, id desc) include (survey_id, category, owner_id) where held_reason is null and state is not null;
create index responses_by_owner on responses (org_id, owner_id, created_at desc, id desc) where owner_id is not null;
create index responses_naming_addresses on responses (org_id) where properties::text like '%@%';
create index responses_search on responses using gin (org_id, comment gin_trgm_ops) where comment is not null;

-- All texts in the answers to follow-up questions, as one text that is searched and analyzed like a comment.
create function answer_words(answers jsonb) returns text
language sql immutable parallel safe
return (
  select string_agg(said, E'\n' order by question)
  from jsonb_each(answers) as answer (question, given)
  cross join lateral (
    select concat_ws(E'\n', nullif(given ->> 'text', ''), nullif(given ->> 'other', '')) as said
  ) words
  where said <> ''
);

-- The answers without their texts: options and scale values.
create function without_words(answers jsonb) returns jsonb
language sql immutable parallel safe
return (
  select coalesce(jsonb_object_agg(question, given - 'text' - 'other'), '{}')
  from jsonb_each(answers) as answer (question, given)
  where given ? 'value' and given -> 'value' <> '[]'
);

create table response_answers (
  org_id       uuid not null,
  response_id  uuid not null,
  answers      jsonb not null check (jsonb_typeof(answers) = 'object'),
  words        text generated always as (answer_words(answers)) stored,
  sent         boolean not null default false,
  saved_at     timestamptz not null default now(),
  completed_at timestamptz,

  primary key (org_id, response_id),
  constraint answers_belong_to_response foreign key (org_id, response_id) references responses (org_id, id) on delete cascade
);

comment on table response_answers is 'Answers of a response to the follow-up questions of its survey';
comment on column response_answers.answers is
  'an object by question id of value (an option id, several, or a number), other and text';
comment on column response_answers.sent is 'the form was sent, not only saved';
comment on column response_answers.completed_at is
  'when response.completed was published, or would have been without subscribers';

create index response_answers_incomplete on response_answers (saved_at) where completed_at is null;
create index response_answers_search on response_answers using gin (org_id, words gin_trgm_ops) where words is not null;
create index response_answers_written on response_answers (org_id, saved_at) where words is not null;

-- A response that replaces one on hold does not inherit its answers.
create function drop_replaced_answers() returns trigger
language plpgsql as $$
begin
  delete from response_answers where org_id = old.org_id and response_id = old.id;
  return new;
end $$;

create trigger responses_drop_replaced_answers before update of id on responses
  for each row when (old.id <> new.id) execute function drop_replaced_answers();

create table link_visits (
  id         uuid not null default gen_random_uuid(),
  org_id     uuid not null,
  survey_id  uuid not null,
  contact_id uuid not null,
  kind       text not null check (kind in ('view', 'trap', 'post')),
  method     text not null,
  score      smallint,
  visited_at timestamptz not null default now(),

  primary key (contact_id, visited_at, id),
  constraint visits_belong_to_contact
    foreign key (org_id, survey_id, contact_id) references contacts (org_id, survey_id, id) on delete cascade
);

comment on table link_visits is
  'A visit of a personal link, to judge submissions. Contains no address and no user agent';
comment on column link_visits.kind is 'view for the page, trap for the hidden link, post for a submission';
comment on column link_visits.score is 'the score in the link';

-- Indexes days instead of times, so that queries for the visits of the last minute use the index by contact.
create index link_visits_by_day on link_visits (((visited_at at time zone 'UTC')::date));

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

comment on table analyses is 'Analysis of the comment of a response';
comment on column analyses.sentiment is 'positive, negative, mixed or neutral';
comment on column analyses.churn_risk is 'how likely the contact is to leave';

create table themes (
  id         uuid primary key default gen_random_uuid(),
  org_id     uuid not null references organizations (id) on delete cascade,
  name       text not null check (char_length(name) between 1 and 100),
  words      text[] not null check (cardinality(words) > 0),
  created_at timestamptz not null default now()
);

comment on table themes is 'A theme that an organization looks for in comments';

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
  blocks       jsonb not null default '[]',
  responses    integer not null,
  top_themes   text[] not null default '{}',
  text         text not null,
  created_at   timestamptz not null default now()
);

comment on table summaries is 'A report over a period';
comment on column summaries.scheduled is 'true for the only scheduled report of the period';
comment on column summaries.period_end is 'first moment after the period';
comment on column summaries.nps is 'of customers in the period';
comment on column summaries.previous_nps is 'of customers in the previous period';
comment on column summaries.blocks is 'the score of each kind of survey, with interval and change';
comment on column summaries.responses is 'number of responses that count in the period';

create unique index summaries_once_a_period on summaries (org_id, report_type, period_start, period_end) where scheduled;
create index summaries_newest_first on summaries (org_id, created_at desc, id desc);

create table response_tags (
  org_id      uuid not null,
  response_id uuid not null,
  tag_id      uuid not null,
  created_at  timestamptz not null default now(),

  primary key (org_id, response_id, tag_id),
  foreign key (org_id, response_id) references responses (org_id, id) on update cascade on delete cascade,
  constraint response_tags_are_tags foreign key (org_id, tag_id) references tags (org_id, id) on delete cascade
);

comment on table response_tags is 'A tag on a response';

create index response_tags_by_tag on response_tags (org_id, tag_id);

create table response_notes (
  id          uuid primary key default gen_random_uuid(),
  org_id      uuid not null,
  response_id uuid not null,
  text        text not null check (char_length(text) between 1 and 5000),
  author      text not null,
  author_kind text not null,
  created_at  timestamptz not null default now(),

  constraint response_notes_belong_to_response foreign key (org_id, response_id)
    references responses (org_id, id) on update cascade on delete cascade
);

comment on table response_notes is 'A note on a response';
comment on column response_notes.author is 'name of the member or key at that time';
comment on column response_notes.author_kind is 'kind of actor, as in audit_events';

create index response_notes_by_response on response_notes (org_id, response_id, created_at);

create table replies (
  id           uuid not null default gen_random_uuid(),
  org_id       uuid not null,
  response_id  uuid not null,
  text         text not null check (char_length(text) between 1 and 5000),
  author       text not null,
  author_kind  text not null,
  closes       boolean not null default false,
  status       text not null default 'claimed' check (status in ('claimed', 'sending', 'sent', 'failed', 'unknown')),
  attempts     smallint not null default 0,
  reason       text,
  reason_code  text,
  server_reply text,
  created_at   timestamptz not null default now(),
  sending_at   timestamptz,
  finished_at  timestamptz,

  primary key (org_id, id),
  constraint replies_belong_to_response foreign key (org_id, response_id)
    references responses (org_id, id) on update cascade on delete cascade
);

comment on table replies is 'An email from a member to the person who gave a response';
comment on column replies.id is 'the id of the form that was sent, so that a form replies once';
comment on column replies.author is 'name of the member or key at that time';
comment on column replies.author_kind is 'kind of actor, as in audit_events';
comment on column replies.closes is 'true if the response is done when the reply has been sent';
comment on column replies.status is 'claimed before the first attempt, sending during one, unknown if the process died in one';
comment on column replies.attempts is 'started attempts. An outcome is only recorded for the newest one';
comment on column replies.reason is 'why it failed or was deferred';
comment on column replies.server_reply is 'reply of the mail server that accepted it';
comment on column replies.sending_at is 'when the last attempt began';

create index replies_by_response on replies (org_id, response_id, created_at);
create index replies_open on replies (created_at) where status in ('claimed', 'sending');

create table canned_texts (
  id         uuid primary key default gen_random_uuid(),
  org_id     uuid not null references organizations (id) on delete cascade,
  name       text not null check (char_length(name) between 1 and 200),
  text       text not null check (char_length(text) between 1 and 5000),
  created_at timestamptz not null default now()
);

comment on table canned_texts is 'A text that members insert into replies';

create unique index canned_texts_one_per_name on canned_texts (org_id, name);

create table saved_views (
  id         uuid primary key default gen_random_uuid(),
  org_id     uuid not null,
  member_id  uuid not null,
  name       text not null check (char_length(name) between 1 and 60),
  filters    jsonb not null check (jsonb_typeof(filters) = 'array'),
  created_at timestamptz not null default now(),

  foreign key (org_id, member_id) references memberships (org_id, member_id) on delete cascade
);

comment on table saved_views is 'Filters of responses that a member has saved under a name';
comment on column saved_views.filters is 'pairs of the name and value of a parameter';

create unique index saved_views_one_per_name on saved_views (org_id, member_id, lower(name));

-- Facets. A response has one facet for each property of its contact, each of its tags, its sentiment, each of its themes,
-- and each value of its answers to follow-up questions. Lists and totals with these filters read one range of one index and
-- never the responses. A response on hold has no facets, because it does not count.

create table response_facets (
  org_id      uuid not null,
  facet       bigint not null,
  created_at  timestamptz not null,
  response_id uuid not null,
  survey_id   uuid not null,
  category    text not null,
  score       smallint not null,

  primary key (org_id, facet, created_at, response_id) include (survey_id, category, score),
  foreign key (org_id, response_id) references responses (org_id, id) on delete cascade
);

comment on table response_facets is
  'A property, tag, sentiment, theme or answer of a response that counts, to find responses by';
comment on column response_facets.facet is 'hash of kind, name and value: see the function facet_of';
comment on column response_facets.created_at is 'copied from the response, like survey_id, category and score';

create index response_facets_by_response on response_facets (org_id, response_id);
-- Halves the time to count all responses with a facet, because equal entries take only a few bytes each.
create index response_facets_counted on response_facets (org_id, facet, category);

create function facet_of(kind text, name text, value text) returns bigint
language sql immutable parallel safe
return ('x' || left(md5(kind || ' ' || octet_length(name) || ' ' || name || value), 16))::bit(64)::bigint;

-- Strings are hashed as their text, all other values as their JSON.
create function property_facets(properties jsonb) returns setof bigint
language sql immutable parallel safe
begin atomic
  select distinct facet_of('property', key, coalesce(value, 'null')) from jsonb_each_text(properties);
end;

create function answer_facets(answers jsonb) returns setof bigint
language sql immutable parallel safe
begin atomic
  select facet_of('answer', question, value)
  from jsonb_each(answers) as answer (question, given)
  cross join lateral jsonb_array_elements_text(
    case jsonb_typeof(given -> 'value') when 'array' then given -> 'value' else jsonb_build_array(given -> 'value') end
  ) as value
  where given ? 'value'
  union
  select facet_of('other', question, '') from jsonb_each(answers) as answer (question, given) where given ? 'other'
  union
  select facet_of('answered', question, '')
  from jsonb_each(answers) as answer (question, given)
  where given ? 'text' or jsonb_typeof(given -> 'value') = 'array';
end;

-- The facets that answers to a question may have: one for each option or value, one for "other" and, for texts and
-- multiple choice, one for all answers.
create function question_facets(question jsonb) returns table (kind text, value text)
language sql immutable parallel safe
begin atomic
  select 'answer', o ->> 'id'
  from jsonb_array_elements(case when question ->> 'kind' in ('choice', 'choices') then question -> 'options' else '[]' end) o
  union all
  select 'answer', v::text
  from generate_series((question ->> 'min')::integer, (question ->> 'max')::integer) v
  where question ->> 'kind' = 'scale'
  union all
  select 'other', '' where question ->> 'kind' in ('choice', 'choices')
  union all
  select 'answered', '' where question ->> 'kind' in ('text', 'choices');
end;

-- An analysis that found no theme has the facet of the empty theme.
create function analysis_facets(sentiment text, themes text[]) returns setof bigint
language sql immutable parallel safe
begin atomic
  select facet_of('sentiment', '', sentiment) where sentiment is not null
  union
  select facet_of('theme', '', theme) from unnest(case when themes = '{}' then array[''] else themes end) theme;
end;

-- Replaces facets of a response. A response on hold gets none.
create function replace_facets(in_org uuid, in_response uuid, removed bigint[], added bigint[]) returns void
language plpgsql as $$
begin
  if removed <> '{}' then
    delete from response_facets
    where org_id = in_org and response_id = in_response and facet = any (removed) and facet <> all (added);
  end if;
  insert into response_facets (org_id, facet, created_at, response_id, survey_id, category, score)
  select org_id, unnest(added), created_at, id, survey_id, category, score
  from responses
  where org_id = in_org and id = in_response and held_reason is null
  on conflict do nothing;
end $$;

create function facet_added_responses() returns trigger
language plpgsql as $$
begin
  insert into response_facets (org_id, facet, created_at, response_id, survey_id, category, score)
  select r.org_id, facet, r.created_at, r.id, r.survey_id, r.category, r.score
  from changed r
  cross join lateral property_facets(r.properties) facet
  where r.held_reason is null and r.properties <> '{}';
  return null;
end $$;

create trigger responses_added_facets after insert on responses
  referencing new table as changed for each statement execute function facet_added_responses();

create function facet_changed_response() returns trigger
language plpgsql as $$
begin
  delete from response_facets where org_id = old.org_id and response_id in (old.id, new.id);
  perform replace_facets(new.org_id, new.id, '{}', array(
    select property_facets(new.properties)
    union
    select facet_of('tag', '', tag_id::text) from response_tags where org_id = new.org_id and response_id = new.id
    union
    select analysis_facets(sentiment, themes) from analyses where org_id = new.org_id and response_id = new.id
    union
    select answer_facets(answers) from response_answers where org_id = new.org_id and response_id = new.id
  ));
  return null;
end $$;

create trigger responses_changed_facets
  after update of held_reason, created_at, category, score, contact_id, survey_id, properties on responses
  for each row when (
    (old.held_reason, old.created_at, old.category, old.score, old.contact_id, old.survey_id, old.properties)
    is distinct from
    (new.held_reason, new.created_at, new.category, new.score, new.contact_id, new.survey_id, new.properties))
  execute function facet_changed_response();

create function facet_tagged_response() returns trigger
language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    perform replace_facets(old.org_id, old.response_id, array[facet_of('tag', '', old.tag_id::text)], '{}');
  else
    perform replace_facets(new.org_id, new.response_id, '{}', array[facet_of('tag', '', new.tag_id::text)]);
  end if;
  return null;
end $$;

create trigger response_tags_changed after insert or delete on response_tags
  for each row execute function facet_tagged_response();

create function facet_analyzed_response() returns trigger
language plpgsql as $$
begin
  perform replace_facets(new.org_id, new.response_id,
    case tg_op when 'UPDATE' then array(select analysis_facets(old.sentiment, old.themes)) else '{}' end,
    array(select analysis_facets(new.sentiment, new.themes)));
  return null;
end $$;

create trigger analyses_added after insert on analyses
  for each row execute function facet_analyzed_response();
create trigger analyses_changed after update of sentiment, themes on analyses
  for each row when ((old.sentiment, old.themes) is distinct from (new.sentiment, new.themes))
  execute function facet_analyzed_response();

-- Finds nothing if the response was deleted too. Its facets are deleted by cascade.
create function facet_unanalyzed_responses() returns trigger
language plpgsql as $$
begin
  delete from response_facets f
  using changed a
  join responses r on r.org_id = a.org_id and r.id = a.response_id
  cross join lateral analysis_facets(a.sentiment, a.themes) removed
  where f.org_id = a.org_id and f.facet = removed
    and f.created_at = r.created_at and f.response_id = r.id;
  return null;
end $$;

create trigger analyses_removed after delete on analyses
  referencing old table as changed for each statement execute function facet_unanalyzed_responses();

create function facet_saved_answers() returns trigger
language plpgsql as $$
begin
  perform replace_facets(new.org_id, new.response_id,
    case tg_op when 'UPDATE' then array(select answer_facets(old.answers)) else '{}' end,
    array(select answer_facets(new.answers)));
  return null;
end $$;

create trigger response_answers_added after insert on response_answers
  for each row execute function facet_saved_answers();
create trigger response_answers_changed after update of answers on response_answers
  for each row when (old.answers is distinct from new.answers) execute function facet_saved_answers();

-- Saves checked answers of a response. Changes and returns nothing if the questions have changed since the check, the
-- survey takes no answers, or the response is deleted or belongs to another person. A change of questions locks the
-- survey for update, so it waits until the transaction ends.
create function save_answers(
  in_org uuid, in_survey uuid, in_response uuid, in_contact uuid, asked jsonb, added jsonb, removed text[], is_sent boolean
) returns table (saved jsonb, held boolean, completed boolean, rewritten boolean, has_text boolean)
language plpgsql as $$
declare
  comment_before text;
  words_before text;
  words_now text;
  was_sent boolean;
begin
  perform from surveys s
  where s.org_id = in_org and s.id = in_survey and s.questions = asked
    and (s.status = 'active' or s.completed_by = 'answers')
  for key share;
  if not found then return; end if;
  select r.held_reason is not null, r.comment into held, comment_before
  from responses r
  where r.org_id = in_org and r.survey_id = in_survey and r.id = in_response and r.contact_id is not distinct from in_contact
  for no key update;
  if not found then return; end if;

  select words into words_before from response_answers a where a.org_id = in_org and a.response_id = in_response;
  insert into response_answers as a (org_id, response_id, answers, sent)
  values (in_org, in_response, added, is_sent)
  on conflict (org_id, response_id) do update
    set answers = (a.answers || excluded.answers) - removed, sent = a.sent or excluded.sent, saved_at = now()
  returning a.answers, a.completed_at is not null, a.sent, a.words into saved, completed, was_sent, words_now;
  -- Nothing is left to complete.
  if saved = '{}' and not was_sent and not completed then
    delete from response_answers a where a.org_id = in_org and a.response_id = in_response;
  end if;
  rewritten := words_now is distinct from words_before;
  has_text := coalesce(comment_before, words_now) is not null;
  return next;
end $$;

-- The answers as the API shows them, in the order of the survey's questions.
create function answers_of(questions jsonb, answers jsonb) returns json
language sql immutable parallel safe
return (
  select concat('[', string_agg(json_build_object(
           'question_id', q ->> 'id', 'question', q ->> 'text', 'kind', q ->> 'kind',
           'value', coalesce(given -> 'value', given -> 'text'),
           'label', case q ->> 'kind'
             when 'choice' then (
               select o -> 'label' from jsonb_array_elements(q -> 'options') o where o -> 'id' = given -> 'value')
             when 'choices' then (
               select coalesce(jsonb_agg(o -> 'label'), '[]')
               from jsonb_array_elements(q -> 'options') o
               where given -> 'value' @> jsonb_build_array(o -> 'id'))
             end,
           'other', given -> 'other')::text, ',' order by place), ']')::json
  from jsonb_array_elements(questions) with ordinality as asked (q, place)
  cross join lateral (select answers -> (q ->> 'id')) as answer (given)
  where given is not null
);

-- An answer as a cell of a file, with labels instead of option ids.
create function answer_cell(question jsonb, given jsonb) returns text
language sql immutable parallel safe
return case question ->> 'kind'
  when 'text' then given ->> 'text'
  when 'scale' then given ->> 'value'
  else nullif(concat_ws(';', (
    select string_agg(o ->> 'label', ';' order by place)
    from jsonb_array_elements(question -> 'options') with ordinality as options (o, place)
    where given -> 'value' @> jsonb_build_array(o -> 'id') or given -> 'value' = o -> 'id'
  ), given ->> 'other'), '')
end;

-- Totals are stored. Triggers add every change of a response or contact to the tallies in the same transaction, whether
-- it comes from an answer, an import, a delete or a cascade.
--
-- Each connection writes to its own slot of a tally, so that writers to one survey do not wait for each other. An
-- hourly job folds the slots into one. Totals of an organization are the sums over its surveys.

create table survey_tallies (
  org_id     uuid not null,
  survey_id  uuid not null,
  slot       integer not null,
  promoters  integer not null default 0,
  passives   integer not null default 0,
  detractors integer not null default 0,
  score_sum  bigint not null default 0,
  contacts   integer not null default 0,
  sent       integer not null default 0,
  responded  integer not null default 0,

  primary key (survey_id, slot),
  foreign key (org_id, survey_id) references surveys (org_id, id) on delete cascade
) with (fillfactor = 50);

comment on table survey_tallies is 'Totals of a survey, to be summed over its slots';
comment on column survey_tallies.slot is '0 for the folded total, otherwise the pid of the backend that writes it';
comment on column survey_tallies.sent is 'contacts that were mailed';
comment on column survey_tallies.responded is 'contacts that have responded';

create index survey_tallies_by_organization on survey_tallies (org_id);

create table hour_tallies (
  org_id     uuid not null,
  survey_id  uuid not null,
  hour       timestamptz not null,
  slot       integer not null,
  promoters  integer not null default 0,
  passives   integer not null default 0,
  detractors integer not null default 0,
  score_sum  integer not null default 0,
  contacts   integer not null default 0,

  primary key (survey_id, hour, slot),
  foreign key (org_id, survey_id) references surveys (org_id, id) on delete cascade
) with (fillfactor = 80);

comment on table hour_tallies is 'Totals of a survey and hour, to be summed over the slots';
comment on column hour_tallies.hour is 'start of the hour of created_at, UTC';
comment on column hour_tallies.slot is '0 for the folded total, otherwise the pid of the backend that writes it';
comment on column hour_tallies.contacts is 'contacts added in that hour';

create index hour_tallies_by_organization on hour_tallies (org_id, hour);

create table asked_tallies (
  org_id      uuid not null,
  survey_id   uuid not null,
  quarter     timestamptz not null,
  slot        integer not null,
  asked       integer not null default 0,
  undelivered integer not null default 0,
  answered    integer not null default 0,

  primary key (survey_id, quarter, slot),
  foreign key (org_id, survey_id) references surveys (org_id, id) on delete cascade
) with (fillfactor = 50);

comment on table asked_tallies is
  'Progress of the contacts that were first mailed in a quarter hour, because days of all time zones begin on quarter hours. To be summed over the slots';
comment on column asked_tallies.slot is '0 for the folded total, otherwise the pid of the backend that writes it';
comment on column asked_tallies.undelivered is 'asked contacts whose mail failed or bounced later';

-- Sums are index-only, because mails that are sent one by one leave nearly a row each.
create index asked_tallies_by_organization on asked_tallies (org_id, quarter)
  include (survey_id, asked, undelivered, answered);

-- Change of a survey's total, or of one hour if `hour` is set.
create type tally_delta as (
  org_id uuid, survey_id uuid, hour timestamptz,
  promoters integer, passives integer, detractors integer, score_sum bigint,
  contacts integer, sent integer, responded integer
);

-- Change of the tally of the quarter hour in which contacts were first emailed.
create type asked_delta as (
  org_id uuid, survey_id uuid, quarter timestamptz, asked integer, undelivered integer, answered integer
);

create function quarter_of(at timestamptz) returns timestamptz
language sql immutable parallel safe
return date_bin('15 minutes', at, timestamptz '2000-01-01 00:00Z');

create function hour_of(at timestamptz) returns timestamptz
language sql immutable parallel safe
return date_bin('1 hour', at, timestamptz '2000-01-01 00:00Z');

create function is_undelivered(status text) returns boolean
language sql immutable parallel safe
return status in ('failed', 'bounced');

-- A slot per connection, so that no writer waits for another. Only folding writes slot 0.
create function tally_slot() returns integer
language sql stable
return pg_backend_pid();

-- The joins below leave out surveys that are being deleted, because their tallies are deleted as well.

create function add_to_survey_tallies(deltas tally_delta[], into_slot integer) returns void
language plpgsql as $$
begin
  insert into survey_tallies as t
    (org_id, survey_id, slot, promoters, passives, detractors, score_sum, contacts, sent, responded)
  select d.org_id, d.survey_id, into_slot, d.promoters, d.passives, d.detractors, d.score_sum, d.contacts, d.sent, d.responded
  from unnest(deltas) d
  join surveys s on s.id = d.survey_id
  where d.hour is null
  order by d.survey_id
  on conflict (survey_id, slot) do update
    set promoters = t.promoters + excluded.promoters,
        passives = t.passives + excluded.passives,
        detractors = t.detractors + excluded.detractors,
        score_sum = t.score_sum + excluded.score_sum,
        contacts = t.contacts + excluded.contacts,
        sent = t.sent + excluded.sent,
        responded = t.responded + excluded.responded;
end $$;

create function add_to_hour_tallies(deltas tally_delta[], into_slot integer) returns void
language plpgsql as $$
begin
  insert into hour_tallies as t (org_id, survey_id, hour, slot, promoters, passives, detractors, score_sum, contacts)
  select d.org_id, d.survey_id, d.hour, into_slot, d.promoters, d.passives, d.detractors, d.score_sum, d.contacts
  from unnest(deltas) d
  join surveys s on s.id = d.survey_id
  where d.hour is not null
  order by d.survey_id, d.hour
  on conflict (survey_id, hour, slot) do update
    set promoters = t.promoters + excluded.promoters,
        passives = t.passives + excluded.passives,
        detractors = t.detractors + excluded.detractors,
        score_sum = t.score_sum + excluded.score_sum,
        contacts = t.contacts + excluded.contacts;
end $$;

create function add_to_asked_tallies(deltas asked_delta[], into_slot integer) returns void
language plpgsql as $$
begin
  insert into asked_tallies as t (org_id, survey_id, quarter, slot, asked, undelivered, answered)
  select d.org_id, d.survey_id, d.quarter, into_slot, d.asked, d.undelivered, d.answered
  from unnest(deltas) d
  join surveys s on s.id = d.survey_id
  order by d.survey_id, d.quarter
  on conflict (survey_id, quarter, slot) do update
    set asked = t.asked + excluded.asked,
        undelivered = t.undelivered + excluded.undelivered,
        answered = t.answered + excluded.answered;
end $$;

create function add_to_tallies(deltas tally_delta[], into_slot integer) returns void
language plpgsql as $$
begin
  perform add_to_survey_tallies(deltas, into_slot);
  perform add_to_hour_tallies(deltas, into_slot);
end $$;

-- Adds the responses of the transition table `changed`, multiplied by the trigger's argument, 1 or -1.
create function tally_responses() returns trigger
language plpgsql as $$
declare
  sign constant integer := tg_argv[0]::integer;
  deltas constant tally_delta[] := array(
    with counted as (
      select org_id, survey_id, hour_of(created_at) as hour, category, score
      from changed
      where held_reason is null
    )
    select (org_id, survey_id, hour,
            sign * count(*) filter (where category = 'promoter'),
            sign * count(*) filter (where category = 'passive'),
            sign * count(*) filter (where category = 'detractor'),
            sign * sum(score), 0, 0, 0)::tally_delta
    from counted
    group by grouping sets ((org_id, survey_id), (org_id, survey_id, hour))
  );
begin
  perform add_to_tallies(deltas, tally_slot());
  return null;
end $$;

create trigger responses_added after insert on responses
  referencing new table as changed for each statement execute function tally_responses('1');
create trigger responses_removed after delete on responses
  referencing old table as changed for each statement execute function tally_responses('-1');
create trigger responses_changed_from after update on responses
  referencing old table as changed for each statement execute function tally_responses('-1');
create trigger responses_changed_to after update on responses
  referencing new table as changed for each statement execute function tally_responses('1');

create function tally_contacts() returns trigger
language plpgsql as $$
declare
  sign constant integer := tg_argv[0]::integer;
  deltas constant tally_delta[] := array(
    with counted as (
      select org_id, survey_id, hour_of(created_at) as hour, sent_at, responded_at
      from changed
    )
    select (org_id, survey_id, hour, 0, 0, 0, 0,
            sign * count(*), sign * count(sent_at), sign * count(responded_at))::tally_delta
    from counted
    group by grouping sets ((org_id, survey_id), (org_id, survey_id, hour))
  );
  asked constant asked_delta[] := array(
    select (org_id, survey_id, quarter_of(sent_at), sign * count(*),
            sign * count(*) filter (where is_undelivered(status)), sign * count(responded_at))::asked_delta
    from changed
    where sent_at is not null
    group by org_id, survey_id, quarter_of(sent_at)
  );
begin
  perform add_to_tallies(deltas, tally_slot());
  if cardinality(asked) > 0 then perform add_to_asked_tallies(asked, tally_slot()); end if;
  return null;
end $$;

create trigger contacts_added after insert on contacts
  referencing new table as changed for each statement execute function tally_contacts('1');
create trigger contacts_removed after delete on contacts
  referencing old table as changed for each statement execute function tally_contacts('-1');

-- Most updates of a contact change no total. Only the first mail and the answer do. The survey and `created_at` of a
-- contact never change.
create function tally_contacts_progress() returns trigger
language plpgsql as $$
declare
  deltas constant tally_delta[] := array(
    select (n.org_id, n.survey_id, null, 0, 0, 0, 0, 0,
            count(n.sent_at) - count(o.sent_at), count(n.responded_at) - count(o.responded_at))::tally_delta
    from old_rows o
    join new_rows n using (id)
    group by n.org_id, n.survey_id
    having count(n.sent_at) <> count(o.sent_at) or count(n.responded_at) <> count(o.responded_at)
  );
  asked constant asked_delta[] := array(
    with stood as (
      select 1 as sign, org_id, survey_id, sent_at, status, responded_at from new_rows where sent_at is not null
      union all
      select -1, org_id, survey_id, sent_at, status, responded_at from old_rows where sent_at is not null
    ), summed as (
      select org_id, survey_id, quarter_of(sent_at) as quarter, sum(sign) as asked,
             coalesce(sum(sign) filter (where is_undelivered(status)), 0) as undelivered,
             coalesce(sum(sign) filter (where responded_at is not null), 0) as answered
      from stood
      group by 1, 2, 3
    )
    select (org_id, survey_id, quarter, asked, undelivered, answered)::asked_delta
    from summed
    where (asked, undelivered, answered) <> (0, 0, 0)
  );
begin
  if cardinality(deltas) > 0 then perform add_to_survey_tallies(deltas, tally_slot()); end if;
  if cardinality(asked) > 0 then perform add_to_asked_tallies(asked, tally_slot()); end if;
  return null;
end $$;

create trigger contacts_changed after update on contacts
  referencing old table as old_rows new table as new_rows
  for each statement
  execute function tally_contacts_progress();

-- Folds the slots of quiet surveys and past hours into slot 0, in one transaction per survey. Slots that a writer has
-- locked are left for the next run.
create index survey_tallies_to_fold on survey_tallies (survey_id) where slot <> 0;
create index hour_tallies_to_fold on hour_tallies (survey_id, hour) where slot <> 0;
create index asked_tallies_to_fold on asked_tallies (survey_id, quarter) where slot <> 0;

create procedure fold_tallies()
language plpgsql as $$
declare
  this_hour constant timestamptz := hour_of(now());
  owner uuid;
  deltas tally_delta[];
  asked_deltas asked_delta[];
begin
  for owner in
    select survey_id from survey_tallies where slot <> 0
    union
    select survey_id from hour_tallies where slot <> 0 and hour < this_hour
    union
    select survey_id from asked_tallies where slot <> 0 and quarter < this_hour
  loop
    -- Locks the survey first, as deleting it does, to avoid a deadlock.
    perform from surveys where id = owner for key share skip locked;
    continue when not found;

    with held as (
      select slot from survey_tallies where survey_id = owner and slot <> 0 for update skip locked
    ), gone as (
      delete from survey_tallies t using held h where t.survey_id = owner and t.slot = h.slot returning t.*
    ), held_hours as (
      select hour, slot from hour_tallies where survey_id = owner and slot <> 0 and hour < this_hour for update skip locked
    ), gone_hours as (
      delete from hour_tallies t using held_hours h
      where t.survey_id = owner and t.hour = h.hour and t.slot = h.slot
      returning t.*
    )
    select array(
      select (org_id, survey_id, null, sum(promoters), sum(passives), sum(detractors), sum(score_sum),
              sum(contacts), sum(sent), sum(responded))::tally_delta
      from gone
      group by org_id, survey_id
      union all
      select (org_id, survey_id, hour, sum(promoters), sum(passives), sum(detractors), sum(score_sum),
              sum(contacts), 0, 0)::tally_delta
      from gone_hours
      group by org_id, survey_id, hour
    ) into deltas;
    perform add_to_tallies(deltas, 0);

    with held as (
      select quarter, slot from asked_tallies
      where survey_id = owner and slot <> 0 and quarter < this_hour
      for update skip locked
    ), gone as (
      delete from asked_tallies t using held h
      where t.survey_id = owner and t.quarter = h.quarter and t.slot = h.slot
      returning t.*
    )
    select array(
      select (org_id, survey_id, quarter, sum(asked), sum(undelivered), sum(answered))::asked_delta
      from gone
      group by org_id, survey_id, quarter
    ) into asked_deltas;
    perform add_to_asked_tallies(asked_deltas, 0);
    commit;
  end loop;
end $$;

create table imports (
  id           uuid primary key default gen_random_uuid(),
  org_id       uuid not null references organizations (id) on delete cascade,
  service      text not null check (service in ('delighted', 'asknicely', 'csv')),
  survey_id    uuid,
  type         text,
  time_zone    text not null,
  status       text not null default 'uploading'
    check (status in ('uploading', 'checking', 'checked', 'importing', 'finished', 'failed')),
  reason       text,
  actor        jsonb not null,
  after        jsonb,
  created_at   timestamptz not null default now(),
  started_at   timestamptz,
  finished_at  timestamptz,

  foreign key (org_id, survey_id) references surveys (org_id, id) on delete cascade,
  unique (org_id, id)
);

comment on table imports is
  'Files of another service that a member imports. They wait for a day, and the result is deleted after 90 days';
comment on column imports.survey_id is 'null until the import creates a survey';
comment on column imports.type is 'scale of the responses. Null until it is chosen or found in the files';
comment on column imports.time_zone is 'of times without an offset, and of the months of the comparison';
comment on column imports.after is 'the responses of the survey by month after the import';

create index imports_newest_first on imports (org_id, created_at desc);
create index imports_by_age on imports (created_at);
create index imports_of_survey on imports (org_id, survey_id);

create table import_files (
  org_id    uuid not null,
  import_id uuid not null,
  place     integer not null,
  name      text not null,
  bytes     integer not null default 0,
  kind      text check (kind in ('responses', 'people', 'unsubscribed', 'bounced')),
  plan      jsonb,
  counts    jsonb,
  reason    text,
  imported  jsonb,
  done      integer not null default 0,
  primary key (import_id, place),
  foreign key (org_id, import_id) references imports (org_id, id) on delete cascade
);

comment on table import_files is 'A file of an import';
comment on column import_files.kind is 'kind of data that the member chose. Null to detect it from the columns';
comment on column import_files.plan is 'the kind of data and the columns of the file';
comment on column import_files.counts is 'numbers of its rows by what happens to them';
comment on column import_files.done is 'rows imported so far, without invalid and skipped ones';

create table import_chunks (
  org_id    uuid not null,
  import_id uuid not null,
  file      integer not null,
  place     integer not null,
  chunk     text not null,
  primary key (import_id, file, place),
  foreign key (org_id, import_id) references imports (org_id, id) on delete cascade
);

comment on table import_chunks is 'The text of a file in chunks, until it is imported';
comment on column import_chunks.file is 'the place of the file in its import';
