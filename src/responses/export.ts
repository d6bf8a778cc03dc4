import { exportReads, type ReplicaTools } from '../keys/read.ts';
import type { Part, Sql } from '../lib/db/db.ts';
import {
  csvCell,
  csvLine,
  csvObject,
  type ExportFormat,
  type FileText,
  linesOfRange,
  pickRange,
  type RangeText,
  readLines,
  readRanges,
} from '../lib/export/export.ts';
import type { Position } from '../lib/paging/page.ts';
import type { OrgId } from '../limits.ts';
import type { Question } from '../questions/definition.ts';
import { listQuestions } from '../questions/queries.ts';
import type { ResponseFilter } from './filter.queries.ts';
import { answersOf, itemJoins, itemText, listedRows, matched, surveyMembers } from './queries.ts';

type ExportWish = { filter: ResponseFilter; format: ExportFormat };

/** Newest first. Holds no connection while the client reads. */
export async function* exportResponses(
  tools: ReplicaTools,
  orgId: string,
  { filter, format }: ExportWish,
): AsyncGenerator<FileText> {
  const read = exportReads(tools, orgId);
  const questions = format === 'csv' ? await listQuestions(tools.db, orgId, filter.survey_id) : [];
  if (format === 'csv') yield csvLine(columnNames(Object.keys(csvCells(tools.db)), questions));
  yield* readRanges((after) =>
    read((sql) => readRange(sql, orgId, { after, filter, format, questions })),
  );
}

/** Names all columns. A number distinguishes questions with the same text. */
function columnNames(fields: readonly string[], questions: readonly Question[]): string[] {
  const names = new Set(fields);
  for (const { text } of questions) {
    let name = text;
    for (let number = 2; names.has(name); number += 1) name = `${text} ${number}`;
    names.add(name);
  }
  return [...names];
}

/** The lines of one range of the list. */
export async function readRange(
  sql: Sql,
  orgId: OrgId,
  {
    filter,
    format,
    after,
    questions = [],
  }: ExportWish & { after: Position | null; questions?: readonly Question[] },
): Promise<RangeText> {
  return await readLines(sql`
    with ${matched(sql, orgId, filter)},
    ${pickRange(sql, listedRows(sql, orgId, filter), after)},
    ${sharedCells(sql, orgId, format)}
    select ${linesOfRange(sql, exportLine(sql, orgId, { format, questions }))}
    from picked p
    join responses r on r.org_id = ${orgId} and r.id = p.id
    left join named on named.id = r.survey_id
    left join tagged on tagged.response_id = r.id
    ${itemJoins(sql, orgId)}`);
}

/**
 * A response as a line of a file, including the line end. Reads the response `r`, its contact `c`, its analysis `a`,
 * its survey from `named` and its tags from `tagged`. Postgres builds the line, because passing on columns would cost
 * the service more than everything else.
 */
function exportLine(sql: Sql, orgId: OrgId, { format, questions }: LineParts): Part {
  if (format === 'csv') {
    const cells = Object.values(csvCells(sql)).reduce((line, cell) => sql`${line}, ',', ${cell}`);
    return sql`concat(${cells}, ${answerCells(sql, questions)}, E'\\r\\n')`;
  }
  const survey = sql`named.shown`;
  const tags = sql`coalesce(tagged.shown, '[]')`;
  return sql`(${itemText(sql, { survey, tags, answers: answersOf(sql, orgId) })} || E'\\n')`;
}

type LineParts = { format: ExportFormat; questions: readonly Question[] };

/** The cells of all questions, each after a comma. They are one expression, because a function takes at most a hundred arguments. */
const answerCells = (sql: Sql, questions: readonly Question[]): Part =>
  questions.length === 0
    ? sql`null`
    : sql`
  coalesce((
    select string_agg(concat(',', ${csvCell(sql, sql`cell`)}), '' order by place)
    from response_answers given
    cross join lateral (
      select place, answer_cell(q, given.answers -> (q ->> 'id')) as cell
      from jsonb_array_elements(${JSON.stringify(questions)}::text::jsonb) with ordinality as asked (q, place)
      offset 0
    ) cells
    where given.org_id = r.org_id and given.response_id = r.id
  ), ${','.repeat(questions.length)})`;

const csvCells = (sql: Sql): Record<string, Part> => ({
  id: sql`r.id`,
  created_at: sql`iso(r.created_at)`,
  survey_id: sql`r.survey_id`,
  survey_name: sql`named.shown`,
  survey_type: sql`named.type`,
  score: sql`r.score`,
  category: sql`r.category`,
  comment: csvCell(sql, sql`r.comment`),
  language: csvCell(sql, sql`r.language`),
  contact_email: csvCell(sql, sql`c.email`),
  contact_name: csvCell(sql, sql`c.name`),
  properties: csvObject(sql, sql`coalesce(r.properties, '{}')`),
  tags: csvCell(sql, sql`tagged.shown`),
  state: sql`r.state`,
  owner: ownerCell(sql),
  held: sql`case when r.held_reason is null then 'false' else 'true' end`,
  ai_sentiment: csvCell(sql, sql`a.sentiment`),
  ai_themes: themesCell(sql),
  ai_churn_risk: csvCell(sql, sql`a.churn_risk`),
  ai_summary: csvCell(sql, sql`a.summary`),
  round: sql`r.round`,
});

const ownerCell = (sql: Sql) => sql`
  case when r.owner_id is not null then (select ${csvCell(sql, sql`email`)} from members where id = r.owner_id) end`;

const themesCell = (sql: Sql) => sql`
  case when a.themes <> '{}' then (
    select ${csvCell(sql, sql`joined`)} from (select array_to_string(a.themes, ';') as joined offset 0) themes
  ) end`;

/**
 * The CTEs `named` and `tagged` look up surveys and tags for all of `picked` at once, which saves a third of the time.
 * The ids are an array to make Postgres use the index: a join would read all tags of the organization.
 */
const sharedCells = (sql: Sql, orgId: OrgId, format: ExportFormat): Part => sql`
  named as materialized (
    select id, type, ${format === 'csv' ? csvCell(sql, sql`name`) : surveyMembers(sql)} as shown
    from surveys
    where org_id = ${orgId}
  ), tagged as materialized (
    select rt.response_id, ${format === 'csv' ? tagNames(sql) : tagObjects(sql)} as shown
    from response_tags rt
    join tags t on t.org_id = ${orgId} and t.id = rt.tag_id
    where rt.org_id = ${orgId} and rt.response_id = any(array(select id from picked))
    group by rt.response_id
  )`;

const byName = (sql: Sql) => sql`order by lower(t.name) collate "C", t.name collate "C"`;

const tagNames = (sql: Sql) => sql`string_agg(t.name, ';' ${byName(sql)})`;

const tagObjects = (sql: Sql) => sql`
  replace(json_agg(json_build_object('id', t.id, 'name', t.name, 'color', t.color) ${byName(sql)})::text, E'\\n', ' ')`;
