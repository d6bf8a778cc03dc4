import { exportReads, type ReplicaTools } from '../keys/read.ts';
import type { Part, Sql } from '../lib/db/db.ts';
import {
  csvCell,
  csvLine,
  type ExportColumn,
  type ExportFormat,
  exportLine,
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
import { isTagged, itemJoins, itemText, listedRows, matched } from './queries.ts';

type ExportWish = { filter: ResponseFilter; format: ExportFormat };

/** Newest first. Holds no connection while the client reads. */
export async function* exportResponses(
  tools: ReplicaTools,
  orgId: string,
  { filter, format }: ExportWish,
): AsyncGenerator<FileText> {
  const read = exportReads(tools, orgId);
  const questions = format === 'csv' ? await listQuestions(tools.db, orgId, filter.survey_id) : [];
  if (format === 'csv') yield csvLine(columnNames(columns(tools.db, orgId), questions));
  yield* readRanges((after) =>
    read((sql) => readRange(sql, orgId, { after, filter, format, questions })),
  );
}

/** Names all columns. A number distinguishes questions with the same text. */
function columnNames(fields: readonly ExportColumn[], questions: readonly Question[]): string[] {
  const names = new Set(fields.map(({ name }) => name));
  for (const { text } of questions) {
    let name = text;
    for (let number = 2; names.has(name); number += 1) name = `${text} ${number}`;
    names.add(name);
  }
  return [...names];
}

type RangeWish = ExportWish & { after: Position | null; questions: readonly Question[] };

/** The lines of one range of the list. */
async function readRange(
  sql: Sql,
  orgId: OrgId,
  { filter, format, after, questions }: RangeWish,
): Promise<RangeText> {
  const line =
    format === 'csv'
      ? exportLine(sql, format, [...columns(sql, orgId), ...answerCells(sql, questions)])
      : sql`(${itemText(sql, orgId)} || E'\\n')`;
  return await readLines(sql`
    with ${matched(sql, orgId, filter)},
    ${pickRange(sql, listedRows(sql, orgId, filter), after)}
    select ${linesOfRange(sql, line)}
    from picked p
    join responses r on r.org_id = ${orgId} and r.id = p.id
    ${itemJoins(sql)}`);
}

const columns = (sql: Sql, orgId: OrgId): ExportColumn[] => [
  { name: 'id', value: sql`r.id` },
  { name: 'created_at', value: sql`iso(r.created_at)` },
  { name: 'survey_id', value: sql`r.survey_id` },
  { name: 'survey_name', value: sql`s.name`, csv: 'text' },
  { name: 'survey_type', value: sql`s.type` },
  { name: 'score', value: sql`r.score` },
  { name: 'category', value: sql`r.category` },
  { name: 'comment', value: sql`r.comment`, csv: 'text' },
  { name: 'language', value: sql`r.language`, csv: 'text' },
  { name: 'contact_email', value: sql`c.email`, csv: 'text' },
  { name: 'contact_name', value: sql`c.name`, csv: 'text' },
  { name: 'properties', value: sql`coalesce(r.properties, '{}')`, csv: 'object' },
  { name: 'tags', value: joinedCell(sql, isTagged(sql, orgId), tagNames(sql)) },
  { name: 'state', value: sql`r.state` },
  {
    name: 'owner',
    value: joinedCell(
      sql,
      sql`r.owner_id is not null`,
      sql`select email from members where id = r.owner_id`,
    ),
  },
  { name: 'held', value: sql`case when r.held_reason is null then 'false' else 'true' end` },
  { name: 'ai_sentiment', value: sql`a.sentiment`, csv: 'text' },
  {
    name: 'ai_themes',
    value: joinedCell(sql, sql`a.themes <> '{}'`, sql`select array_to_string(a.themes, ';')`),
  },
  { name: 'ai_churn_risk', value: sql`a.churn_risk`, csv: 'text' },
  { name: 'ai_summary', value: sql`a.summary`, csv: 'text' },
  { name: 'round', value: sql`r.round` },
];

/** The text that a query returns as a cell. The offset keeps Postgres from running the query several times. */
const joinedCell = (sql: Sql, isFilled: Part, query: Part): Part => sql`
  case when ${isFilled} then (select ${csvCell(sql, sql`shown`)} from (${query} offset 0) as joined (shown)) end`;

const tagNames = (sql: Sql): Part => sql`
  select string_agg(t.name, ';' order by lower(t.name) collate "C", t.name collate "C")
  from response_tags rt
  join tags t on t.org_id = rt.org_id and t.id = rt.tag_id
  where rt.org_id = r.org_id and rt.response_id = r.id`;

/** The cells of all questions. They are one expression, because a function takes at most a hundred arguments. */
const answerCells = (sql: Sql, questions: readonly Question[]): ExportColumn[] =>
  questions.length === 0
    ? []
    : [
        {
          name: 'answers',
          value: sql`
  coalesce((
    select string_agg(coalesce(${csvCell(sql, sql`cell`)}, ''), ',' order by place)
    from response_answers given
    cross join lateral (
      select place, answer_cell(q, given.answers -> (q ->> 'id')) as cell
      from jsonb_array_elements(${JSON.stringify(questions)}::text::jsonb) with ordinality as asked (q, place)
      offset 0
    ) cells
    where given.org_id = r.org_id and given.response_id = r.id
  ), ${','.repeat(questions.length - 1)})`,
        },
      ];
