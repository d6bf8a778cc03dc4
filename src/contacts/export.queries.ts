import type { Part, Sql } from '../lib/db/db.ts';
import type { ExportFormat } from '../lib/export/answer.ts';
import { csvCell, csvObject } from '../lib/export/csv-cell.cte.ts';
import type { ListRange, RangeText } from '../lib/export/read-ahead.ts';
import type { Position } from '../lib/paging/page.ts';
import type { OrgId } from '../org-id.ts';

/** Contacts of an organization, or of a survey of it. */
export type ContactFile = { surveyId: string | null; format: ExportFormat };

/** What the limit below says. */
export const longestRange = 4000;

/** The lines of a range of the list, of a longer one those of its beginning. */
export async function readContactRange(
  sql: Sql,
  orgId: OrgId,
  { file, after, until }: ListRange<Position> & { file: ContactFile },
): Promise<RangeText<Position>> {
  const [found] = await sql<{ text: string; rows: number; at: string; id: string }[]>`
    with picked as materialized (
      select *
      from ${contactsAfter(sql, orgId, { file, after })}
        ${until ? sql`and (created_at, id) >= ${place(sql, until)}` : sql``}
      order by created_at desc, id desc
      limit 4000
    ), last as (
      select created_at::text as at, id from picked order by created_at, id limit 1
    ), named as materialized (
      select id, ${file.format === 'csv' ? csvCell(sql, sql`name`) : sql`to_json(name)`} as name
      from surveys
      where org_id = ${orgId}
    )
    select coalesce(string_agg(${contactLine(sql, file.format)}, '' order by p.created_at desc, p.id desc), '') as text,
           count(*)::int as rows, ${ofFull(sql, 'at')}, ${ofFull(sql, 'id')}
    from picked p
    left join named on named.id = p.survey_id`;
  const { text, rows, at, id } = found!;
  return { text, last: rows === longestRange ? { at, id } : undefined };
}

/** Of the last row, found only for a range that may have more. */
const ofFull = (sql: Sql, column: 'at' | 'id') =>
  sql`case when count(*) = 4000 then (select ${sql(column)} from last) end as ${sql(column)}`;

type ContactDivision = { file: ContactFile; after: Position | null; limit: number; rows: number };

/** Where the ranges of so many rows after a position end, as far as the limit goes. */
export async function divideContacts(
  sql: Sql,
  orgId: OrgId,
  { file, after, limit, rows }: ContactDivision,
): Promise<Position[]> {
  return await sql<Position[]>`
    with numbered as (
      select created_at, id, row_number() over (order by created_at desc, id desc) as n
      from (
        select created_at, id
        from ${contactsAfter(sql, orgId, { file, after })}
        order by created_at desc, id desc
        limit ${limit}::int
      ) next
    )
    select created_at::text as at, id from numbered where n % ${rows}::int = 0 order by n`;
}

type AfterPosition = { file: ContactFile; after: Position | null };

const contactsAfter = (sql: Sql, orgId: OrgId, { file, after }: AfterPosition) => sql`
  contacts
  where org_id = ${orgId}
    ${file.surveyId ? sql`and survey_id = ${file.surveyId}` : sql``}
    ${after ? sql`and (created_at, id) < ${place(sql, after)}` : sql``}`;

const place = (sql: Sql, { at, id }: Position) => sql`(${at}::text::timestamptz, ${id}::uuid)`;

/** The line of a contact `p` in a file, with its end, and the name of its survey in `named`. */
const contactLine = (sql: Sql, format: ExportFormat): Part =>
  format === 'csv'
    ? sql`concat(${csvCells(sql).reduce((line, cell) => sql`${line}, ',', ${cell}`)}, E'\\r\\n')`
    : jsonLine(sql);

/** The names of `csvCells`. */
export const exportColumns = [
  ...['id', 'created_at', 'survey_id', 'survey_name', 'email', 'name', 'properties', 'status'],
  ...['failure_reason', 'sent_at', 'responded_at'],
] as const;

const csvCells = (sql: Sql): Part[] => [
  ...[sql`p.id`, sql`iso(p.created_at)`, sql`p.survey_id`, sql`named.name`],
  ...[csvCell(sql, sql`p.email`), csvCell(sql, sql`p.name`), csvObject(sql, sql`p.properties`)],
  ...[
    sql`p.status`,
    csvCell(sql, sql`p.failure_reason`),
    sql`iso(p.sent_at)`,
    sql`iso(p.responded_at)`,
  ],
];

/** The members of an item of the list, and what a file has in addition. */
function jsonLine(sql: Sql): Part {
  const text = (value: Part) => sql`coalesce(to_json(${value}), 'null')`;
  return sql`concat(
    '{"id":"', p.id, '","email":', to_json(p.email), ',"name":', ${text(sql`p.name`)},
    ',"status":', to_json(p.status), ',"failure_reason":', ${text(sql`p.failure_reason`)},
    ',"sent_at":', ${text(sql`iso(p.sent_at)`)}, ',"responded_at":', ${text(sql`iso(p.responded_at)`)},
    ',"survey_id":"', p.survey_id, '","survey_name":', ${text(sql`named.name`)},
    ',"properties":', p.properties, ',"created_at":"', iso(p.created_at), E'"}\\n')`;
}
