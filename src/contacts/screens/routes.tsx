import { type Context, Hono } from 'hono';
import * as v from 'valibot';
import { notFound, Refusal } from '../../errors.ts';
import type { Db } from '../../lib/db/db.ts';
import { parsePage } from '../../lib/paging/page.ts';
import { isUuid } from '../../lib/validation/parse.ts';
import { requireRole, type ScreenEnv } from '../../sessions/session.ts';
import { getOrgSurvey } from '../../surveys/manage.queries.ts';
import { flash } from '../../web/app/flash.ts';
import {
  emptyForm,
  type FormState,
  optionalText,
  readForm,
  withMistake,
} from '../../web/app/read-form.ts';
import { renderScreen } from '../../web/app/screen.tsx';
import { addContact } from '../save.ts';
import { ContactName, Email } from '../schemas.ts';
import { listContactsOf } from '../survey.queries.ts';
import { getUpload, type Upload } from '../upload.queries.ts';
import { largestUpload, previewUpload, takeUpload } from '../upload.ts';
import { importUpload } from '../upload-import.ts';
import { inUploadTurn } from '../upload-turn.ts';
import { ContactList } from './contact-list.tsx';
import { UploadScreen } from './upload-screen.tsx';

const largestForm = largestUpload + 1024 * 1024;

const AddFields = v.object({ email: Email, name: optionalText(ContactName) });
const UploadFields = v.object({
  file: v.optional(v.instance(File)),
  list: v.optional(v.string(), ''),
});
const MapFields = v.looseObject({ header: v.optional(v.string()) });
const Use = v.picklist(['email', 'name', 'property', 'skip']);

/** The contacts of a survey, below `/o/:slug/surveys/:id/contacts`. */
export function contactScreens({ db }: { db: Db }) {
  return new Hono<ScreenEnv>()
    .get('/:id/contacts', (c) => showList(c, db, emptyForm()))

    .post('/:id/contacts', async (c) => {
      const editor = requireRole(c, 'editor');
      const form = await readForm(c, AddFields);
      if (form.errors) return await showList(c, db, form, 422);
      const survey_id = idOf(c.req.param('id'));
      const { email, name } = form.values;
      return await refusing(c, db, async () => {
        await addContact({ db }, editor, { email, name, survey_id, properties: {} });
        flash(c, { kind: 'fine', text: 'The contact is on the list.' });
        return c.redirect(c.req.path, 303);
      });
    })

    .post('/:id/contacts/uploads', async (c) => {
      const { orgId } = requireRole(c, 'editor');
      const surveyId = idOf(c.req.param('id'));
      await getOrgSurvey(db, orgId, surveyId);
      return await inUploadTurn(orgId, async () => {
        const form = await readForm(c, UploadFields, { largest: largestForm });
        if (form.errors) return await showList(c, db, form, 422);
        return await refusing(c, db, async () => {
          const given = await givenList(form.values);
          const id = await takeUpload({ db }, { orgId, surveyId }, given);
          return c.redirect(`${c.req.path}/${id}`, 303);
        });
      });
    })

    .get('/:id/contacts/uploads/:upload', async (c) => {
      const { orgId } = requireRole(c, 'editor');
      return await showUpload(c, db, await uploadOf(c, db, orgId));
    })

    .post('/:id/contacts/uploads/:upload', async (c) => {
      const editor = requireRole(c, 'editor');
      const upload = await uploadOf(c, db, editor.orgId);
      const form = await readForm(c, MapFields);
      const { columns } = await previewUpload(db, editor.orgId, upload);
      const typed: Record<string, unknown> = form.errors ? {} : form.values;
      const mapped = columns.map(({ name }, place) => {
        const use = v.safeParse(Use, typed[`column_${place}`]);
        return { name, use: use.success ? use.output : ('skip' as const) };
      });
      if (!mapped.some(({ use }) => use === 'email')) {
        const mistakes = await withMistake(c, {
          '': 'Choose the column that holds the addresses.',
        });
        return await showUpload(c, db, upload, { form: mistakes, status: 422 });
      }
      const mapping = { columns: mapped, hasHeader: 'header' in typed };
      await inUploadTurn(editor.orgId, () => importUpload({ db }, editor, { upload, mapping }));
      return c.redirect(c.req.path, 303);
    });
}

type ScreenContext = Context<ScreenEnv>;

/** What the verb refuses is shown above the form that asked for it. */
async function refusing(c: ScreenContext, db: Db, act: () => Promise<Response>) {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof Refusal) || error.kind === 'not_found') throw error;
    const sentence = `${error.message.charAt(0).toUpperCase()}${error.message.slice(1)}.`;
    return await showList(c, db, await withMistake(c, { '': sentence }), 422);
  }
}

async function showList(c: ScreenContext, db: Db, form: FormState, status: 200 | 422 = 200) {
  const { id: orgId, slug, role } = c.var.organization;
  const surveyId = idOf(c.req.param('id') ?? '');
  const { page: number, limit } = parsePage(c.req.queries());
  const page = { page: number, limit };
  const search = c.req.query('search')?.trim() ?? '';
  const survey = await getOrgSurvey(db, orgId, surveyId);
  const contacts = await listContactsOf(db, { orgId, surveyId }, { page, search });
  const base = `/o/${slug}/surveys`;
  const here = `${base}/${surveyId}`;
  const body = (
    <ContactList
      {...contacts}
      page={page}
      search={search}
      form={form}
      here={here}
      mayEdit={role !== 'viewer'}
      askAfterDays={survey.ask_after_days}
    />
  );
  return renderScreen(c, {
    title: `Contacts of ${survey.name}`,
    section: 'surveys',
    body,
    status,
    trail: [
      { text: 'Surveys', href: base },
      { text: survey.name, href: here },
    ],
    actions: (
      <a class="button primary" href={`${here}/send`}>
        Send
      </a>
    ),
  });
}

type UploadView = { form?: FormState; status?: 200 | 422 };

async function showUpload(
  c: ScreenContext,
  db: Db,
  upload: Upload,
  { form = emptyForm(), status = 200 }: UploadView = {},
) {
  const { id: orgId, slug } = c.var.organization;
  const survey = await getOrgSurvey(db, orgId, upload.survey_id);
  const here = `/o/${slug}/surveys/${survey.id}`;
  const body = await UploadScreen({ db, orgId, upload, form, here });
  return renderScreen(c, {
    title: titleOf(upload),
    section: 'surveys',
    body,
    status,
    trail: [
      { text: 'Surveys', href: `/o/${slug}/surveys` },
      { text: survey.name, href: here },
      { text: 'Contacts', href: `${here}/contacts` },
    ],
  });
}

const titleOf = ({ imported_at, name }: Upload) =>
  imported_at ? `Imported ${name}` : `Columns of ${name}`;

async function uploadOf(c: ScreenContext, db: Db, orgId: string): Promise<Upload> {
  const id = c.req.param('upload') ?? '';
  if (!isUuid(id)) throw notFound('list');
  return await getUpload(db, orgId, { id, surveyId: idOf(c.req.param('id') ?? '') });
}

type GivenFields = v.InferOutput<typeof UploadFields>;

async function givenList({ file, list }: GivenFields) {
  if (file && file.size > 0) return { name: file.name, bytes: await file.bytes() };
  if (list.trim() === '') {
    const mistake = file?.name
      ? `the file ${file.name} is empty`
      : 'choose a file, or paste a list';
    throw new Refusal('invalid', mistake);
  }
  return { name: 'pasted list', bytes: new TextEncoder().encode(list) };
}

function idOf(text: string): string {
  if (!isUuid(text)) throw notFound('survey');
  return text;
}
