import { notFound } from '../errors.ts';
import { one, type Sql } from '../lib/db/db.ts';
import type { OrgSurvey } from '../surveys/queries.ts';
import { newToken } from './queries.ts';
import type { CheckedContact } from './rules.ts';

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

/** The text of an upload, piece by piece. */
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

/** Locks an upload that is still to be taken over; nothing if it has been. */
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

export async function hasContacts(sql: Sql, { orgId, surveyId }: OrgSurvey): Promise<boolean> {
  const found = await sql`
    select from contacts where org_id = ${orgId} and survey_id = ${surveyId} limit 1`;
  return found.length > 0;
}

/**
 * Adds contacts to a survey that has none at these addresses; what another transaction adds meanwhile stays as it is.
 * Returns how many were added.
 */
export async function addUploaded(
  sql: Sql,
  { orgId, surveyId }: OrgSurvey,
  contacts: readonly CheckedContact[],
): Promise<number> {
  const { count } = await sql`
    insert into contacts (org_id, survey_id, email, name, properties, token)
    select ${orgId}, ${surveyId}, email, name, properties, token
    from ${given(sql, contacts)}
    order by lower(email)
    on conflict (survey_id, email_key) do nothing`;
  return count;
}

/** The contacts with new tokens, as rows. */
function given(sql: Sql, contacts: readonly CheckedContact[]) {
  const rows = contacts.map(({ email, name, properties }) => ({
    email,
    name,
    properties,
    token: newToken(),
  }));
  return sql`
    json_to_recordset(${JSON.stringify(rows)}::text::json)
      as given (email text, name text, properties jsonb, token text)`;
}

/** Adds contacts, and changes those the survey has where they differ: uploading a list again writes nothing. */
export async function saveUploaded(
  sql: Sql,
  { orgId, surveyId }: OrgSurvey,
  contacts: readonly CheckedContact[],
) {
  const saved = await sql<{ added: boolean }[]>`
    insert into contacts as c (org_id, survey_id, email, name, properties, token)
    select ${orgId}, ${surveyId}, given.email, given.name, given.properties, given.token
    from ${given(sql, contacts)}
    left join lateral (
      select id, name, properties
      from contacts
      where org_id = ${orgId} and survey_id = ${surveyId} and email_key = lower(given.email)
      limit 1
    ) known on true
    where known.id is null
      or (coalesce(given.name, known.name), known.properties || given.properties)
         is distinct from (known.name, known.properties)
    order by lower(given.email)
    on conflict (survey_id, email_key) do update
      set name = coalesce(excluded.name, c.name), properties = c.properties || excluded.properties,
          updated_at = now()
      where c.org_id = ${orgId}
        and (coalesce(excluded.name, c.name), c.properties || excluded.properties)
            is distinct from (c.name, c.properties)
    returning xmax = 0 as added`;
  return saved.filter(({ added }) => added).length;
}

export async function deleteOldUploads(sql: Sql, { days }: { days: number }) {
  await sql`
    -- all organizations
    delete from contact_uploads where created_at < now() - make_interval(days => ${days})`;
}
