import type { Sql } from '../../lib/db/db.ts';
import { Tick } from '../../web/app/fields.tsx';
import { counted, DataTable } from '../../web/app/lists.tsx';
import { Mistakes, Notice } from '../../web/app/marks.tsx';
import type { FormState } from '../../web/app/read-form.ts';
import { listRejects, type Upload, type UploadReject } from '../upload.queries.ts';
import { previewUpload, type UploadColumn } from '../upload.ts';
import { imported } from './contact-list.tsx';

type UploadScreenProps = {
  db: Sql;
  orgId: string;
  upload: Upload;
  form: FormState;
  /** The path of the survey. */
  here: string;
};

const rejectsShown = 100;

/** What an uploaded list holds, to say what its columns are; afterwards what came of it. */
export async function UploadScreen({ db, orgId, upload, form, here }: UploadScreenProps) {
  if (upload.imported_at) {
    const survey = { orgId, surveyId: upload.survey_id };
    const rejects = await listRejects(db, survey, rejectsShown);
    return <Imported upload={upload} rejects={rejects} here={here} />;
  }
  const { columns, rows } = await previewUpload(db, orgId, upload);
  return (
    <form method="post" class="fields">
      <Mistakes form={form} />
      <p>
        {counted(upload.rows, 'row')}. Say what the columns are. Columns that are kept become
        properties, to be used in texts and filters.
      </p>
      {/* biome-ignore lint/a11y/useSemanticElements: a section would be a landmark with a line above it */}
      <div class="scroll" tabindex={0} role="region" aria-label="First rows">
        <table>
          <caption class="hidden">The first rows of the list</caption>
          <thead>
            <tr>
              {columns.map((column, place) => (
                <th scope="col">
                  <ColumnUses column={column} place={place} />
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(({ cells }) => (
              <tr>
                {columns.map((_, place) => (
                  <td dir="auto">{cells[place] ?? ''}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <Tick name="header" label="The first row names the columns" checked={upload.has_header} />
      <div class="actions">
        <button type="submit" class="primary">
          Import
        </button>
        <a class="more" href={`${here}/contacts`}>
          Cancel
        </a>
      </div>
    </form>
  );
}

const uses = [
  ['email', 'Email'],
  ['name', 'Name'],
  ['property', 'Keep as property'],
  ['skip', 'Leave out'],
] as const;

function ColumnUses({ column: { name, use }, place }: { column: UploadColumn; place: number }) {
  const id = `column_${place}`;
  return (
    <div class="field">
      <label for={id} dir="auto">
        {name}
      </label>
      <select id={id} name={id}>
        {uses.map(([value, text]) => (
          <option value={value} selected={value === use}>
            {text}
          </option>
        ))}
      </select>
    </div>
  );
}

type ImportedProps = { upload: Upload; rejects: readonly UploadReject[]; here: string };

function Imported({ upload, rejects, here }: ImportedProps) {
  const { added, known, repeated } = upload;
  const counts = { added: added ?? 0, known: known ?? 0, repeated: repeated ?? 0 };
  return (
    <>
      <Notice kind="fine" text={`${imported({ ...counts, invalid: rejects.length })}.`} />
      <div class="actions">
        <a class="button primary" href={`${here}/send`}>
          See who would be mailed
        </a>
        <a class="more" href={`${here}/contacts`}>
          Back to the list
        </a>
      </div>
      {rejects.length > 0 ? (
        <section aria-labelledby="rejects">
          <div class="title">
            <h2 id="rejects">Lines that were left out</h2>
            <span class="small soft">{counted(rejects.length, 'line')}</span>
          </div>
          <DataTable
            caption="Lines that were left out"
            columns={[{ head: 'Line' }, { head: 'Address' }, { head: 'Why' }]}
            rows={rejects.map(({ line, value, reason }) => ({
              cells: [line, <bdi>{value}</bdi>, reason],
            }))}
          />
        </section>
      ) : null}
    </>
  );
}
