import type { Actor } from '../audit/acts.ts';
import { orNotFound } from '../errors.ts';
import { type Db, json, one, type Sql } from '../lib/db/db.ts';
import { addressPattern } from '../lib/smtp/address.ts';
import type { Counted, SurveyType } from '../survey-types.ts';
import type { FileCounts, ImportCounts } from './import.ts';
import type { FileKind, PlannedColumn } from './rows.ts';

export type ServiceName = 'delighted' | 'asknicely' | 'csv';
export type ImportStatus =
  | 'uploading'
  | 'checking'
  | 'checked'
  | 'importing'
  | 'finished'
  | 'failed';

export type Months = Readonly<Record<string, Counted>>;

export type Import = {
  id: string;
  org_id: string;
  service: ServiceName;
  survey_id: string | null;
  survey_name: string | null;
  type: SurveyType | null;
  time_zone: string;
  status: ImportStatus;
  reason: string | null;
  actor: Actor;
  after: Months | null;
  created_at: Date;
};

export type ImportFile = {
  place: number;
  name: string;
  bytes: number;
  kind: FileKind | null;
  plan: { kind: FileKind; columns: readonly PlannedColumn[] } | null;
  counts: FileCounts | null;
  reason: string | null;
  imported: ImportCounts | null;
  done: number;
};

type Json = ReturnType<typeof json>;

export type OrgImport = { orgId: string; importId: string };

/** The fields of the form may arrive after the files. */
export async function insertImport(sql: Sql, orgId: string, actor: Actor) {
  const row = { org_id: orgId, service: 'csv', actor: json(sql, actor), time_zone: 'UTC' };
  return one(await sql<{ id: string }[]>`insert into imports ${sql(row)} returning id`).id;
}

/** Sums the bytes of an organization's files that wait for their import. */
export async function countWaitingBytes(sql: Sql, orgId: string): Promise<number> {
  const { bytes } = one(
    await sql<{ bytes: number }[]>`
      select coalesce(sum(f.bytes), 0)::float8 as bytes
      from imports i
      join import_files f on f.org_id = i.org_id and f.import_id = i.id
      where i.org_id = ${orgId} and i.finished_at is null`,
  );
  return bytes;
}

type FileName = { place: number; name: string };

export async function insertFile(
  sql: Sql,
  { orgId, importId }: OrgImport,
  { place, name }: FileName,
) {
  await sql`
    insert into import_files (org_id, import_id, place, name)
    values (${orgId}, ${importId}, ${place}, ${name})`;
}

export async function insertImportChunk(
  sql: Sql,
  { orgId, importId }: OrgImport,
  { file, place, chunk }: { file: number; place: number; chunk: string },
) {
  await sql`
    insert into import_chunks (org_id, import_id, file, place, chunk)
    values (${orgId}, ${importId}, ${file}, ${place}, ${chunk})`;
}

export async function* readImportChunks(sql: Sql, { orgId, importId }: OrgImport, file: number) {
  for (let place = 0; ; place++) {
    const [row] = await sql<{ chunk: string }[]>`
      select chunk
      from import_chunks
      where org_id = ${orgId} and import_id = ${importId} and file = ${file} and place = ${place}`;
    if (!row) return;
    yield row.chunk;
  }
}

export async function deleteChunks(sql: Sql, { orgId, importId }: OrgImport) {
  await sql`delete from import_chunks where org_id = ${orgId} and import_id = ${importId}`;
}

type FileChange =
  | Pick<ImportFile, 'bytes'>
  | Pick<ImportFile, 'kind'>
  | (Pick<ImportFile, 'reason'> & Record<'plan' | 'counts', Json | null>);

export async function changeFile(
  sql: Sql,
  { orgId, importId }: OrgImport,
  place: number,
  change: FileChange,
) {
  await sql`
    update import_files
    set ${sql(change)}
    where org_id = ${orgId} and import_id = ${importId} and place = ${place}`;
}

/** Records a batch. Returns false if another run has recorded it or the import was deleted. */
export async function recordBatch(
  sql: Sql,
  { orgId, importId }: OrgImport,
  batch: { place: number; from: number; done: number; imported: ImportCounts },
) {
  const { count } = await sql`
    update import_files
    set done = ${batch.done}, imported = ${json(sql, batch.imported)}
    where org_id = ${orgId} and import_id = ${importId} and place = ${batch.place} and done = ${batch.from}
      and exists (select from imports i where i.org_id = ${orgId} and i.id = ${importId} and i.status = 'importing')`;
  return count === 1;
}

const fields = (sql: Sql) => sql`
  -- organization: caller
  i.id, i.org_id, i.service, i.survey_id, s.name as survey_name, i.type, i.time_zone, i.status, i.reason, i.actor,
  i.after, i.created_at
  from imports i
  left join surveys s on s.org_id = i.org_id and s.id = i.survey_id`;

const importsListed = 20;

export const listImports = (sql: Sql, orgId: string) => sql<(Import & { names: string[] })[]>`
  select array(select name from import_files f where f.org_id = i.org_id and f.import_id = i.id order by place) as names,
         ${fields(sql)}
  where i.org_id = ${orgId} and i.status <> 'uploading'
  order by i.created_at desc
  limit ${importsListed}`;

export async function findImport(sql: Sql, { orgId, importId }: OrgImport) {
  const [row] = await sql<Import[]>`
    select ${fields(sql)}
    where i.org_id = ${orgId} and i.id = ${importId} and i.status <> 'uploading'`;
  return row;
}

export async function getImport(sql: Sql, id: OrgImport): Promise<Import> {
  const row = await findImport(sql, id);
  return orNotFound(row, 'import');
}

export const listFiles = (sql: Sql, { orgId, importId }: OrgImport) => sql<ImportFile[]>`
  select place, name, bytes, kind, plan, counts, reason, imported, done
  from import_files
  where org_id = ${orgId} and import_id = ${importId}
  order by place`;

type ImportChange = Partial<
  Pick<Import, 'status' | 'service' | 'survey_id' | 'type' | 'time_zone' | 'reason'> &
    Record<'after', Json> &
    Record<'started_at' | 'finished_at', Date>
>;

/** Changes an import that has one of the statuses. Returns false for any other. */
export async function changeImport(
  sql: Sql,
  { orgId, importId }: OrgImport,
  { from, ...change }: ImportChange & { from: readonly ImportStatus[] },
) {
  const { count } = await sql`
    update imports
    set ${sql(change)}
    where org_id = ${orgId} and id = ${importId} and status = any (${[...from]}::text[])`;
  return count === 1;
}

export async function deleteImport(sql: Sql, { orgId, importId }: OrgImport) {
  await sql`delete from imports where org_id = ${orgId} and id = ${importId}`;
}

/** The responses of a survey by month, without those on hold. */
export async function countMonths(
  sql: Sql,
  { orgId, surveyId }: { orgId: string; surveyId: string },
  timeZone: string,
): Promise<Months> {
  const rows = await sql<(Counted & { month: string })[]>`
    select to_char(created_at at time zone ${timeZone}, 'YYYY-MM') as month,
           count(*) filter (where category = 'promoter')::int as promoters,
           count(*) filter (where category = 'passive')::int as passives,
           count(*) filter (where category = 'detractor')::int as detractors,
           sum(score)::int as score_sum
    from responses
    where org_id = ${orgId} and survey_id = ${surveyId} and held_reason is null
    group by 1`;
  return Object.fromEntries(rows.map(({ month, ...counted }) => [month, counted]));
}

/**
 * Deletes the text of files that mention an address, and ends their imports. Chunks end at line breaks, so no address
 * is split.
 */
export async function deleteImportsMentioning(sql: Sql, orgId: string, key: string) {
  const pattern = addressPattern(key);
  const { count } = await sql`
    with mentioned as materialized (
      select import_id from import_chunks where org_id = ${orgId} and chunk ~* ${pattern}
      union
      select import_id from import_files where org_id = ${orgId} and counts::text ~* ${pattern}
    ), ended as (
      update imports
      set status = 'failed', finished_at = now(),
          reason = 'a person in these files was erased, so the files were deleted: upload them again'
      where org_id = ${orgId} and id in (select import_id from mentioned) and status <> 'finished'
    ), hidden as (
      update import_files
      set counts = counts || '{"shown": []}'
      where org_id = ${orgId} and import_id in (select import_id from mentioned) and counts is not null
    )
    delete from import_chunks where org_id = ${orgId} and import_id in (select import_id from mentioned)`;
  return count;
}

const waitingDays = 1;
const keptDays = 90;

export async function deleteOldImports({ db }: { db: Db }) {
  await db`
    -- all organizations
    delete from imports
    where created_at < now() - make_interval(days => case when started_at is null then ${waitingDays}::int else ${keptDays}::int end)`;
}
