import { orNotFound } from '../errors.ts';
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
  rejected: number | null;
  imported_at: Date | null;
};

type NewUpload = Pick<Upload, 'name' | 'delimiter' | 'first_line' | 'has_header' | 'rows'> & {
  uploaded_by: string | null;
  bytes: number;
};

export async function insertUpload(sql: Sql, { orgId, surveyId }: OrgSurvey, upload: NewUpload) {
  const row = { org_id: orgId, survey_id: surveyId, ...upload };
  return one(await sql<{ id: string }[]>`insert into contact_uploads ${sql(row)} returning id`).id;
}

/** Deletes the member's waiting upload for a survey. Returns the bytes of the organization's other waiting uploads. */
export async function deleteWaitingUpload(
  sql: Sql,
  { orgId, surveyId }: OrgSurvey,
  uploadedBy: string | null,
) {
  await sql`
    delete from contact_uploads
    where org_id = ${orgId} and survey_id = ${surveyId} and uploaded_by is not distinct from ${uploadedBy}::uuid
      and imported_at is null`;
  return one(
    await sql<{ bytes: number }[]>`
      select coalesce(sum(bytes), 0)::int as bytes
      from contact_uploads
      where org_id = ${orgId} and imported_at is null`,
  ).bytes;
}

export async function deleteUpload(sql: Sql, { orgId, uploadId }: OrgUpload) {
  await sql`delete from contact_uploads where org_id = ${orgId} and id = ${uploadId}`;
}

/**
 * Deletes the contacts that an upload has added, except the ones that were mailed or have answered since. Their
 * `created_at` is the time of the import. The lock waits for sends that are claiming them.
 */
export async function deleteAdded(
  sql: Sql,
  { orgId, surveyId }: OrgSurvey,
  uploadId: string,
): Promise<number> {
  const ids = await sql<{ id: string }[]>`
    select id
    from contacts
    where org_id = ${orgId} and survey_id = ${surveyId}
      and created_at = (select imported_at from contact_uploads where org_id = ${orgId} and id = ${uploadId})
    order by email_key, id
    for update`;
  const { count } = await sql`
    delete from contacts c
    where c.org_id = ${orgId} and c.id = any (${ids.map(({ id }) => id)}::uuid[])
      and c.sent_at is null and c.responded_at is null
      and not exists (select from mails m where m.org_id = ${orgId} and m.contact_id = c.id)
      and not exists (select from responses r where r.org_id = ${orgId} and r.contact_id = c.id)`;
  return count;
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
    const [row] = await sql<{ chunk: string }[]>`
      select chunk
      from contact_upload_chunks
      where org_id = ${orgId} and upload_id = ${uploadId} and place = ${place}`;
    if (!row) return;
    yield row.chunk;
  }
}

export async function getUpload(
  sql: Sql,
  orgId: string,
  { id, surveyId }: { id: string; surveyId: string },
) {
  const [upload] = await sql<Upload[]>`
    select id, survey_id, name, delimiter, first_line, has_header, rows, added, known, repeated, rejected, imported_at
    from contact_uploads
    where org_id = ${orgId} and survey_id = ${surveyId} and id = ${id}`;
  return orNotFound(upload, 'list');
}

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

type UploadCounts = { added: number; known: number; repeated: number; rejected: number };

/** Saves the counts of an imported upload, and deletes its text and the skipped rows of earlier uploads. */
export async function endUpload(
  sql: Sql,
  { orgId, surveyId, uploadId }: OrgUpload & OrgSurvey,
  counts: UploadCounts,
) {
  await sql`
    delete from contact_upload_rejects r
    using contact_uploads u
    where r.org_id = ${orgId} and u.org_id = ${orgId} and u.id = r.upload_id and u.survey_id = ${surveyId}
      and u.id <> ${uploadId}`;
  await sql`
    update contact_uploads
    set ${sql(counts)}, imported_at = now()
    where org_id = ${orgId} and id = ${uploadId}`;
  await sql`delete from contact_upload_chunks where org_id = ${orgId} and upload_id = ${uploadId}`;
}

/** Lists the first skipped rows. Only the newest upload of a survey has any. */
export async function listRejects(
  sql: Sql,
  { orgId, surveyId }: OrgSurvey,
  { atMost, uploadId = null }: { atMost: number; uploadId?: string | null },
) {
  return await sql<UploadReject[]>`
    select r.line, r.value, r.reason
    from contact_uploads u
    join contact_upload_rejects r on r.org_id = ${orgId} and r.upload_id = u.id
    where u.org_id = ${orgId} and u.survey_id = ${surveyId} and u.imported_at is not null
      and u.id = coalesce(${uploadId}::uuid, u.id)
    order by r.line
    limit ${atMost}`;
}

/** Counts the skipped rows of the newest import. */
export async function countRejects(sql: Sql, { orgId, surveyId }: OrgSurvey): Promise<number> {
  const [newest] = await sql<{ rejected: number | null }[]>`
    select rejected
    from contact_uploads
    where org_id = ${orgId} and survey_id = ${surveyId} and imported_at is not null
    order by imported_at desc
    limit 1`;
  return newest?.rejected ?? 0;
}

const waitingDays = 1;
const importedDays = 7;

export async function deleteOldUploads({ db }: { db: Db }) {
  await db`
    -- all organizations
    delete from contact_uploads
    where created_at < now() - make_interval(days => case when imported_at is null then ${waitingDays}::int else ${importedDays}::int end)`;
}
