import { notFound } from '../errors.ts';
import { type Db, one, type Sql } from '../lib/db/db.ts';
import type { OrgSurvey } from '../surveys/queries.ts';

export type Upload = {
  id: string;
  survey_id: string;
  name: string;
  delimiter: string;
  first_line: number;
  has_header: boolean;
  rows: number;
  added: number | null;
  known: number | null;
  repeated: number | null;
  imported_at: Date | null;
};

export type NewUpload = Pick<Upload, 'name' | 'delimiter' | 'first_line' | 'has_header' | 'rows'>;

export async function insertUpload(sql: Sql, { orgId, surveyId }: OrgSurvey, upload: NewUpload) {
  const row = { org_id: orgId, survey_id: surveyId, ...upload };
  return one(await sql<{ id: string }[]>`insert into contact_uploads ${sql(row)} returning id`).id;
}

export type OrgUpload = { orgId: string; uploadId: string };

export async function insertChunk(
  sql: Sql,
  { orgId, uploadId }: OrgUpload,
  { place, chunk }: { place: number; chunk: string },
) {
  await sql`
    insert into contact_upload_chunks (org_id, upload_id, place, chunk)
    values (${orgId}, ${uploadId}, ${place}, ${chunk})`;
}

export async function* readChunks(sql: Sql, { orgId, uploadId }: OrgUpload) {
  for (let place = 0; ; place++) {
    const [found] = await sql<{ chunk: string }[]>`
      select chunk
      from contact_upload_chunks
      where org_id = ${orgId} and upload_id = ${uploadId} and place = ${place}`;
    if (!found) return;
    yield found.chunk;
  }
}

export async function getUpload(sql: Sql, orgId: string, { id, surveyId }: UploadOfSurvey) {
  const [upload] = await sql<Upload[]>`
    select id, survey_id, name, delimiter, first_line, has_header, rows, added, known, repeated, imported_at
    from contact_uploads
    where org_id = ${orgId} and survey_id = ${surveyId} and id = ${id}`;
  if (!upload) throw notFound('list');
  return upload;
}

type UploadOfSurvey = { id: string; surveyId: string };

export async function lockWaitingUpload(sql: Sql, { orgId, uploadId }: OrgUpload) {
  const [upload] = await sql<{ id: string }[]>`
    select id
    from contact_uploads
    where org_id = ${orgId} and id = ${uploadId} and imported_at is null
    for update`;
  return upload;
}

export type UploadReject = { line: number; value: string; reason: string };

export async function insertRejects(
  sql: Sql,
  { orgId, uploadId }: OrgUpload,
  rejects: readonly UploadReject[],
) {
  await sql`
    insert into contact_upload_rejects (org_id, upload_id, line, value, reason)
    select ${orgId}, ${uploadId}, line, value, reason
    from unnest(${rejects.map(({ line }) => line)}::integer[],
                ${rejects.map(({ value }) => value)}::text[],
                ${rejects.map(({ reason }) => reason)}::text[]) as r (line, value, reason)
    on conflict do nothing`;
}

type UploadCounts = { added: number; known: number; repeated: number };

/** Notes what came of an upload; its text is no longer needed. */
export async function endUpload(sql: Sql, { orgId, uploadId }: OrgUpload, counts: UploadCounts) {
  await sql`
    update contact_uploads
    set ${sql(counts)}, imported_at = now()
    where org_id = ${orgId} and id = ${uploadId}`;
  await sql`delete from contact_upload_chunks where org_id = ${orgId} and upload_id = ${uploadId}`;
}

/** The rows that were left out of the list that was taken over last. */
export async function listRejects(sql: Sql, { orgId, surveyId }: OrgSurvey, atMost: number) {
  return await sql<UploadReject[]>`
    select r.line, r.value, r.reason
    from (
      select id
      from contact_uploads
      where org_id = ${orgId} and survey_id = ${surveyId} and imported_at is not null
      order by imported_at desc
      limit 1
    ) u
    join contact_upload_rejects r on r.org_id = ${orgId} and r.upload_id = u.id
    order by r.line
    limit ${atMost}`;
}

const keptDays = 7;

export async function deleteOldUploads({ db }: { db: Db }) {
  await db`
    -- all organizations
    delete from contact_uploads where created_at < now() - make_interval(days => ${keptDays})`;
}
