import type { Sql } from '../../../src/lib/db/db.ts';
import { ago, id } from './names.ts';
import { full } from './organizations.ts';

const list = `Email;Name;Plan
amara@people.example;Amara Eriksen;pro
ada@people.example;"Ada ""the first"" Marsh";free
no address;Without;pro
`;

/** A list whose columns are still to be mapped, and one that was taken over. */
export async function addUploads(sql: Sql) {
  const done = { added: 2, known: 1, repeated: 1, imported_at: ago(4) };
  for (const [name, over] of [['upload-new', {}] as const, ['upload-done', done] as const]) {
    const upload_id = id(name);
    await sql`insert into contact_uploads ${sql({
      ...{ id: upload_id, org_id: full.id, survey_id: id('survey-nps'), name: `${name}.csv` },
      ...{ delimiter: ';', first_line: 1, has_header: true, rows: 3, created_at: ago(4), ...over },
    } as never)}`;
    await sql`
      insert into contact_upload_chunks ${sql({ org_id: full.id, upload_id, place: 0, chunk: list })}`;
  }
  await sql`insert into contact_upload_rejects ${sql({
    ...{ org_id: full.id, upload_id: id('upload-done'), line: 4, value: 'no address' },
    reason: 'is not an email address',
  })}`;
}
