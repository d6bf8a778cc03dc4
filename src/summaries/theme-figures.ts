import { ofDays, onDays, type Selection } from '../home/figures.ts';
import { one, type Part, type Sql } from '../lib/db/db.ts';
import {
  countedRows,
  countFiltered,
  hasFacets,
  matches,
  type NpsScope,
  type ResponseFilter,
  surveyConditions,
} from '../responses/filter.queries.ts';
import { addDays, startOfLocalDay } from '../responses/period.ts';
import { type Category, type Counted, compare, measure, type SurveyType } from '../survey-types.ts';
import type { Sentiment } from './rules.ts';

/** Counts `theme` even if few responses mention it. */
type ThemeSelection = Selection & { theme: string | null };

export type MeasuredTheme = Awaited<ReturnType<typeof readThemes>>[number];

/** The themes of one scale, most mentioned first. */
export async function readThemes(sql: Sql, orgId: string, selection: ThemeSelection) {
  const { type } = selection.scope;
  const rows = await countThemesInScope(sql, orgId, selection);
  return rows.map(({ theme, is_own, now: counted, before, ...row }) => {
    const now = measure(type, counted, row.variance);
    const earlier = measure(type, before, row.variance_before);
    const change = compare(type, now, earlier);
    return { theme, isOwn: is_own, counted, now, before: earlier, change };
  });
}

type ThemeRow = {
  theme: string;
  is_own: boolean;
  now: Counted;
  before: Counted;
  variance: number | null;
  variance_before: number | null;
};

/** Number of newest responses that are searched for themes that the organization has not defined. */
export const sampledResponses = 5_000;
const maxFoundThemes = 20;

/** Counts each theme in the index of its facet. */
async function countThemesInScope(sql: Sql, orgId: string, selection: ThemeSelection) {
  const { scope, days } = ofDays(selection);
  const { period, timeZone, theme } = selection;
  const both = { from: period.before.from, to: period.to, timeZone };
  return await sql<ThemeRow[]>`
    with sampled as materialized (
      select id
      from ${countedRows(sql, orgId, scope)} and ${onDays(sql, sql`created_at`, days)}
      order by created_at desc, id desc
      limit ${sampledResponses}
    ), frequent as (
      select theme
      from sampled
      join analyses a on a.org_id = ${orgId} and a.response_id = sampled.id
      cross join lateral unnest(a.themes) theme
      group by theme
      order by count(*) desc, theme
      limit ${maxFoundThemes}
    ), listed as (
      select theme, bool_or(is_own) as is_own
      from (
        select theme, false as is_own from frequent
        union all
        select lower(name), true from themes where org_id = ${orgId}
        union all
        select ${theme}::text, false where ${theme}::text is not null
      ) named
      group by theme
    ), bounds as materialized (
      select ${period.from}::timestamp at time zone ${timeZone} as start
    )
    select listed.theme, is_own, now, before, variance, variance_before
    from listed
    cross join lateral (
      select ${tally(sql, sql`created_at >= (select start from bounds)`)} as now,
             ${tally(sql, sql`created_at < (select start from bounds)`)} as before,
             count(*) filter (where created_at >= (select start from bounds)) as mentions,
             var_samp(score) filter (where created_at >= (select start from bounds))::float8 as variance,
             var_samp(score) filter (where created_at < (select start from bounds))::float8 as variance_before
      from ${rowsOfFacet(sql, orgId, { facet: sql`facet_of('theme', '', listed.theme)`, scope })}
        and ${onDays(sql, sql`f.created_at`, both)}
    ) counted
    where mentions > 0
    order by mentions desc, listed.theme`;
}

const tally = (sql: Sql, when: Part) => sql`
  json_build_object('promoters', count(*) filter (where category = 'promoter' and ${when}),
                    'passives', count(*) filter (where category = 'passive' and ${when}),
                    'detractors', count(*) filter (where category = 'detractor' and ${when}),
                    'score_sum', coalesce(sum(score) filter (where ${when}), 0))`;

type RowsOfFacet = { facet: Part; scope: NpsScope };

const rowsOfFacet = (sql: Sql, orgId: string, { facet, scope }: RowsOfFacet) => sql`
  response_facets f
  where f.org_id = ${orgId} and f.facet = ${facet} ${surveyConditions(sql, orgId, scope)}
    ${hasFacets(sql, orgId, scope.facets, sql`f.created_at, f.response_id`)}`;

export type ReadComments = Awaited<ReturnType<typeof countReadComments>>;

/** Counts comments and text answers of the period, and what analysis found in them. */
export async function countReadComments(sql: Sql, orgId: string, selection: Selection) {
  const { scope, days } = ofDays(selection);
  const { from, to, timeZone } = days;
  const range = {
    from: startOfLocalDay(from, timeZone),
    to: startOfLocalDay(addDays(to, 1), timeZone),
  };
  const withComment = { ...anyResponse, ...scope, range, hasComment: true };
  const row = one(
    await sql<CommentCounts[]>`
      select ai_enabled, (${countFiltered(sql, orgId, withComment)}) as comments,
             (select count(*)::int
              from response_answers a
              join responses r on r.org_id = ${orgId} and r.id = a.response_id
              where a.org_id = ${orgId} and a.words is not null and a.saved_at >= ${range.from}
                and ${matches(sql, orgId, { ...withComment, hasComment: false })}) as text_answers,
             (select json_object_agg(name, (
                       select count(*)
                       from ${rowsOfFacet(sql, orgId, { facet: sql`counted.facet`, scope })}
                         and ${onDays(sql, sql`f.created_at`, days)}
                     ))
              from (
                select sentiment as name, facet_of('sentiment', '', sentiment) as facet
                from unnest(array['positive', 'neutral', 'negative', 'mixed']) sentiment
                union all
                select 'without_theme', facet_of('theme', '', '')
              ) counted) as found
      from organizations
      where id = ${orgId}`,
  );
  const { without_theme: withoutTheme, ...sentiments } = row.found;
  const analyzed = Object.values(sentiments).reduce((sum, count) => sum + count, 0);
  return {
    isOn: row.ai_enabled,
    // A response may have been answered or erased since it was counted.
    comments: Math.max(row.comments + row.text_answers, analyzed),
    analyzed,
    withoutTheme,
    sentiments,
  };
}

type CommentCounts = {
  ai_enabled: boolean;
  comments: number;
  text_answers: number;
  found: Record<Sentiment | 'without_theme', number>;
};

const anyResponse = {
  category: null,
  pattern: null,
  held: false,
  language: null,
  state: null,
  owner: null,
} satisfies Partial<ResponseFilter>;

export type ThemeQuote = {
  id: string;
  score: number;
  category: Category;
  comment: string;
  created_at: Date;
  type: SurveyType;
  survey_name: string;
};

const maxQuotes = 2;
/** Reads more responses than quotes, because a response may have the theme only in a text answer. */
const maxRead = 50;

export async function listThemeQuotes(
  sql: Sql,
  orgId: string,
  { theme, ...selection }: Selection & { theme: string },
) {
  const { scope, days } = ofDays(selection);
  return await sql<ThemeQuote[]>`
    select r.id, r.score, r.category, r.comment, r.created_at, s.type, s.name as survey_name
    from (
      select f.response_id, f.created_at
      from ${rowsOfFacet(sql, orgId, { facet: sql`facet_of('theme', '', ${theme}::text)`, scope })}
        and ${onDays(sql, sql`f.created_at`, days)}
      order by f.created_at desc, f.response_id desc
      limit ${maxRead}
    ) newest
    join responses r on r.org_id = ${orgId} and r.id = newest.response_id
    join surveys s on s.org_id = ${orgId} and s.id = r.survey_id
    where r.held_reason is null and r.comment is not null
    order by newest.created_at desc, newest.response_id desc
    limit ${maxQuotes}`;
}
