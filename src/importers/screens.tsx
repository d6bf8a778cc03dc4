import { type Context, Hono } from 'hono';
import * as v from 'valibot';
import { Refusal, toSentence } from '../errors.ts';
import type { Db } from '../lib/db/db.ts';
import { readFormWithFiles } from '../lib/http/multipart.ts';
import { idParam, isTimeZoneName, Uuid } from '../lib/validation/parse.ts';
import { requireRole, type ScreenEnv } from '../sessions/session.ts';
import { surveyTypes, typeFacts } from '../survey-types.ts';
import { allSurveys, getOrgSurvey } from '../surveys/queries.ts';
import { Confirm, FormErrors, Part, State, type StateKind, Time } from '../web/app/badges.tsx';
import { redirectWith } from '../web/app/flash.ts';
import {
  Choice,
  emptyForm,
  Field,
  type FormState,
  readForm,
  Select,
  Submit,
  TimeZoneSelect,
} from '../web/app/forms.tsx';
import { DataTable } from '../web/app/lists.tsx';
import { renderSettings, settingPath } from '../web/app/settings-screen.tsx';
import {
  changeKinds,
  maxImportBytes,
  maxImportFiles,
  receiveFiles,
  services,
  startImport,
} from './import-files.ts';
import { ImportPage } from './import-page.tsx';
import {
  deleteImport,
  getImport,
  type Import,
  type ImportStatus,
  listFiles,
  listImports,
} from './queries.ts';
import { fileKinds } from './rows.ts';

const newSurvey = 'new';
const detected = 'auto';

const UploadFields = v.object({
  service: v.picklist(['delighted', 'asknicely', 'csv'], 'Choose where the files come from.'),
  survey: v.union([v.literal(newSurvey), Uuid], 'Choose a survey.'),
  type: v.optional(v.picklist([detected, ...surveyTypes]), detected),
  time_zone: v.pipe(v.string(), v.check(isTimeZoneName, 'Choose a time zone.')),
});

/** Takes large files. */
export const importPath = /^\/o\/[^/]+\/settings\/import$/;

/** Below `/o/:slug/settings/import`. */
export const importScreens = (tools: { db: Db }) =>
  new Hono<ScreenEnv>()
    .get('/', async (c) => {
      requireRole(c, 'editor');
      return await showForm(c, tools, emptyForm());
    })

    .post('/', async (c) => {
      const editor = requireRole(c, 'editor');
      let fields: Record<string, string> = {};
      try {
        const importId = await receiveFiles(tools, editor, async (onFile) => {
          const limits = { maxBytes: maxImportBytes, maxFiles: maxImportFiles };
          fields = await readFormWithFiles(c, { ...limits, onFile });
          return await readChoice(tools.db, editor.orgId, fields);
        });
        return c.redirect(`${c.req.path}/${importId}`, 303);
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        const text = `${toSentence(error.message)} Nothing was imported. Choose the files again.`;
        return await showForm(c, tools, { typed: fields, errors: { '': text } });
      }
    })

    .get('/:id', async (c) => {
      requireRole(c, 'editor');
      return await showImport(c, tools, emptyForm());
    })

    .post('/:id', async (c) => {
      const editor = requireRole(c, 'editor');
      const importId = idParam(c, 'import');
      const { name } = c.var.organization;
      const sender = { from_name: name, from_email: c.var.member.email };
      return await orShow(c, tools, async () => {
        await startImport(tools, editor, { importId, sender });
        return c.redirect(c.req.path, 303);
      });
    })

    .post('/:id/kinds', async (c) => {
      const editor = requireRole(c, 'editor');
      const importId = idParam(c, 'import');
      const form = await readForm(c, v.record(v.string(), v.string()));
      const files = await listFiles(tools.db, { orgId: editor.orgId, importId });
      const kinds = new Map(
        files.map(({ place }) => {
          const typed = form.errors ? undefined : form.values[`kind_${place}`];
          return [place, fileKinds.find((kind) => kind === typed) ?? null] as const;
        }),
      );
      return await orShow(c, tools, async () => {
        await changeKinds(tools, editor, { importId, kinds });
        return c.redirect(c.req.path.replace(/\/kinds$/, ''), 303);
      });
    })

    .get('/:id/delete', async (c) => {
      const row = await readImport(c, tools);
      const here = c.req.path.replace(/\/delete$/, '');
      return renderSettings(c, {
        setting: 'import',
        title: 'Delete the import',
        body: (
          <Confirm action={c.req.path} button="Delete" cancel={here}>
            <p>{deletionText(row)}</p>
          </Confirm>
        ),
      });
    })

    .post('/:id/delete', async (c) => {
      const { org_id: orgId, id: importId } = await readImport(c, tools);
      await deleteImport(tools.db, { orgId, importId });
      return redirectWith(c, settingPath(c.var.organization, 'import'), 'Import deleted.');
    });

async function readChoice(db: Db, orgId: string, fields: Readonly<Record<string, string>>) {
  const result = v.safeParse(UploadFields, fields);
  if (!result.success) throw new Refusal('invalid', result.issues[0].message);
  const { survey, type, ...choice } = result.output;
  const survey_id = survey === newSurvey ? null : survey;
  if (survey_id) await getOrgSurvey(db, orgId, survey_id);
  return { ...choice, survey_id, type: type === detected ? null : type };
}

type ScreenContext = Context<ScreenEnv>;
type ScreenTools = { db: Db };

function deletionText({ status, survey_name }: Import): string {
  if (status === 'finished') {
    return 'Deletes this result. The imported responses and contacts stay.';
  }
  return survey_name && status !== 'checked'
    ? `Stops the import and deletes its files. Rows that were already imported into ${survey_name} stay.`
    : 'Deletes the files. Nothing was imported from them.';
}

const readImport = (c: ScreenContext, { db }: ScreenTools) => {
  const { orgId } = requireRole(c, 'editor');
  return getImport(db, { orgId, importId: idParam(c, 'import') });
};

async function orShow(c: ScreenContext, tools: ScreenTools, act: () => Promise<Response>) {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof Refusal) || error.kind === 'not_found') throw error;
    return await showImport(c, tools, { typed: {}, errors: { '': toSentence(error.message) } });
  }
}

async function showImport(c: ScreenContext, tools: ScreenTools, form: FormState) {
  const row = await readImport(c, tools);
  const files = await listFiles(tools.db, { orgId: row.org_id, importId: row.id });
  const list = settingPath(c.var.organization, 'import');
  const surveys = `/o/${c.var.organization.slug}/surveys`;
  return renderSettings(c, {
    setting: 'import',
    title: `Import from ${services[row.service].name}`,
    form,
    body: (
      <ImportPage
        row={row}
        files={files}
        form={form}
        list={list}
        here={`${list}/${row.id}`}
        surveys={surveys}
      />
    ),
  });
}

async function showForm(c: ScreenContext, { db }: ScreenTools, form: FormState) {
  const { id, timeZone } = c.var.organization;
  const [imports, surveys] = await Promise.all([listImports(db, id), allSurveys(db, id)]);
  const here = settingPath(c.var.organization, 'import');
  return renderSettings(c, {
    setting: 'import',
    form,
    body: (
      <>
        <Part id="import" title="Import from another service">
          <p class="sub measure">
            Bring your history: responses, comments, tags, people, unsubscribes and bounces. You see
            what will be imported before anything changes, and nobody is emailed.
          </p>
          <form method="post" action={here} enctype="multipart/form-data" class="stack measure">
            <FormErrors form={form} />
            <Choice
              name="service"
              label="Service"
              form={form}
              value="delighted"
              options={[
                { value: 'delighted', text: 'Delighted' },
                { value: 'asknicely', text: 'AskNicely' },
                {
                  value: 'csv',
                  text: 'Another service',
                  help: 'CSV or Excel with a header row: score and date, or email addresses.',
                },
              ]}
            />
            <Select
              name="survey"
              label="Survey"
              form={form}
              value={newSurvey}
              options={[
                { value: newSurvey, text: 'New survey' },
                ...surveys.map(({ id: value, name, type }) => ({
                  value,
                  text: `${name} (${typeFacts(type).shortNumber})`,
                })),
              ]}
              help="A new survey is a draft, so it emails nobody until you open it."
            />
            <Select
              name="type"
              label="Scale of a new survey"
              form={form}
              value={detected}
              options={[
                { value: detected, text: 'As in the files' },
                ...surveyTypes.map((type) => ({ value: type, text: typeFacts(type).name })),
              ]}
              help="A survey has one scale. Rows of other scales are skipped: import them again into another survey."
            />
            <TimeZoneSelect
              name="time_zone"
              label="Time zone"
              form={form}
              value={timeZone}
              help="Used for times in the files that have no time zone."
            />
            <Field
              name="files"
              label="Files"
              type="file"
              multiple
              accept=".csv,.tsv,.txt,.xlsx,text/csv"
              form={form}
              help={`Up to ${maxImportFiles} exports as you downloaded them, CSV or Excel (.xlsx), ${maxImportBytes / 1024 / 1024} MB together. Each sheet of a workbook counts as a file.`}
            />
            <div class="acts">
              <Submit>Check files</Submit>
            </div>
          </form>
        </Part>
        {imports.length === 0 ? null : (
          <Part id="imports" title="Imports">
            <DataTable
              caption="Imports, newest first"
              columns={['Time', 'Files', 'Survey', { head: 'Status', phone: 'beside' }]}
              rows={imports.map((each) => ({
                cells: [
                  <a href={`${here}/${each.id}`}>
                    <Time at={each.created_at} />
                  </a>,
                  <bdi>{each.names.join(', ')}</bdi>,
                  <bdi>{each.survey_name ?? 'New survey'}</bdi>,
                  <State kind={statusWords[each.status][0]}>{statusWords[each.status][1]}</State>,
                ],
              }))}
            />
          </Part>
        )}
      </>
    ),
  });
}

const statusWords: Readonly<Record<ImportStatus, readonly [StateKind, string]>> = {
  uploading: ['waiting', 'Uploading'],
  checking: ['waiting', 'Reading the files'],
  checked: ['waiting', 'Ready to import'],
  importing: ['waiting', 'Importing'],
  finished: ['fine', 'Imported'],
  failed: ['failed', 'Stopped'],
};
