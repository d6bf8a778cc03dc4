import { type Context, Hono } from 'hono';
import * as v from 'valibot';
import { Refusal, toSentence } from '../../errors.ts';
import type { Db } from '../../lib/db/db.ts';
import { parsePage } from '../../lib/paging/page.ts';
import { idParam } from '../../lib/validation/parse.ts';
import { requireRole, type ScreenEnv } from '../../sessions/session.ts';
import { getOrgSurvey } from '../../surveys/queries.ts';
import { Confirm, FormErrors, Notice, State, Time } from '../../web/app/badges.tsx';
import { redirectWith } from '../../web/app/flash.ts';
import {
  Checkbox,
  emptyForm,
  Field,
  type FormState,
  LinkButton,
  optionalText,
  readForm,
  SubmitOrCancel,
  statusOf,
  withFieldError,
} from '../../web/app/forms.tsx';
import { count, counted, DataTable, SearchedList } from '../../web/app/lists.tsx';
import { renderScreen } from '../../web/app/screen.tsx';
import { SurveyTabs } from '../../web/app/survey-tabs.tsx';
import { ContactName, Email } from '../api.ts';
import { getContactOf, listContactsOf, type SurveyContact } from '../queries.ts';
import { addContact, deleteContact } from '../save.ts';
import { getUpload, listRejects, type Upload, type UploadReject } from '../upload.queries.ts';
import {
  type ColumnUse,
  columnUses,
  deleteUploadedContacts,
  importUpload,
  maxUploadBytes,
  previewUpload,
  runInUploadSlot,
  saveUpload,
  type UploadColumn,
} from '../upload.ts';

const largestForm = maxUploadBytes + 1024 * 1024;

const AddFields = v.object({ email: Email, name: optionalText(ContactName) });
const UploadFields = v.object({
  file: v.optional(v.instance(File)),
  list: v.optional(v.string(), ''),
});
const MapFields = v.looseObject({ header: v.optional(v.string()) });
const Use = v.picklist(columnUses);

export function contactScreens({ db }: { db: Db }) {
  return new Hono<ScreenEnv>()
    .get('/:id/contacts', (c) => showList(c, db, emptyForm()))

    .post('/:id/contacts', async (c) => {
      const editor = requireRole(c, 'editor');
      const form = await readForm(c, AddFields);
      if (form.errors) return await showList(c, db, form);
      const survey_id = idParam(c, 'survey');
      const { email, name } = form.values;
      return await orShowError(c, db, async () => {
        await addContact({ db }, editor, { email, name, survey_id, properties: {} });
        return redirectWith(c, c.req.path, 'The contact is on the list.');
      });
    })

    .post('/:id/contacts/uploads', async (c) => {
      const editor = requireRole(c, 'editor');
      const { orgId } = editor;
      const surveyId = idParam(c, 'survey');
      await getOrgSurvey(db, orgId, surveyId);
      return await runInUploadSlot(orgId, async () => {
        const form = await readForm(c, UploadFields, { largest: largestForm });
        if (form.errors) return await showList(c, db, form);
        return await orShowError(c, db, async () => {
          const list = await readList(form.values);
          const id = await saveUpload({ db }, editor, { surveyId, ...list });
          return c.redirect(`${c.req.path}/${id}`, 303);
        });
      });
    })

    .get('/:id/contacts/uploads/:upload', async (c) => {
      const { orgId } = requireRole(c, 'editor');
      return await showUpload(c, db, await readUpload(c, db, orgId));
    })

    .post('/:id/contacts/uploads/:upload', async (c) => {
      const editor = requireRole(c, 'editor');
      const upload = await readUpload(c, db, editor.orgId);
      const form = await readForm(c, MapFields);
      const { columns } = await previewUpload(db, editor.orgId, upload);
      const typed: Record<string, unknown> = form.errors ? {} : form.values;
      const mapped = columns.map(({ name }, place) => {
        const use = v.safeParse(Use, typed[`column_${place}`]);
        return { name, use: use.success ? use.output : ('skip' as const) };
      });
      const again = async (mistake: string) =>
        await showUpload(c, db, upload, await withFieldError(c, { '': mistake }));
      const mistake = validateColumns(mapped);
      if (mistake) return await again(mistake);
      const list = { upload, columns: mapped, hasHeader: 'header' in typed };
      try {
        await runInUploadSlot(editor.orgId, () => importUpload({ db }, editor, list));
      } catch (error) {
        if (!(error instanceof Refusal) || error.code !== 'no_addresses') throw error;
        return await again(`${toSentence(error.message)} Choose another column.`);
      }
      return c.redirect(c.req.path, 303);
    })

    .get('/:id/contacts/uploads/:upload/delete', async (c) => {
      const { orgId } = requireRole(c, 'editor');
      const upload = await readUpload(c, db, orgId);
      return await confirmDeletion(c, db, {
        title: `Delete ${upload.name}`,
        cancel: c.req.path.replace(/\/delete$/, ''),
        what: upload.imported_at
          ? `Deletes the ${counted(upload.added ?? 0, 'contact')} that this list added. Contacts that were mailed or have answered since stay, and those that were known before.`
          : 'Deletes the uploaded list. None of its contacts were imported.',
      });
    })

    .post('/:id/contacts/uploads/:upload/delete', async (c) => {
      const editor = requireRole(c, 'editor');
      const deleted = await deleteUploadedContacts(
        { db },
        editor,
        await readUpload(c, db, editor.orgId),
      );
      const text = `The list is deleted, with ${counted(deleted, 'contact')}.`;
      return redirectWith(c, contactsPath(c), text);
    })

    .get('/:id/contacts/:contact/delete', async (c) => {
      const { orgId } = requireRole(c, 'editor');
      const contact = await getContactOf(db, orgId, contactParams(c));
      return await confirmDeletion(c, db, {
        title: `Delete ${contact.email}`,
        cancel: contactsPath(c),
        what: 'Deletes the contact from this survey, with its mails and its responses. Whether the address may be mailed by other surveys stays as it is.',
      });
    })

    .post('/:id/contacts/:contact/delete', async (c) => {
      const editor = requireRole(c, 'editor');
      const { id } = await getContactOf(db, editor.orgId, contactParams(c));
      return await orShowError(c, db, async () => {
        await deleteContact({ db }, editor, id);
        return redirectWith(c, contactsPath(c), 'The contact is deleted.');
      });
    });
}

function validateColumns(columns: readonly UploadColumn[]): string | undefined {
  const places = columns.filter(({ use }) => use === 'email').length;
  if (places === 0) return 'Choose the column that holds the addresses.';
  return places > 1 ? 'Choose one column for Email.' : undefined;
}

const contactsPath = (c: ScreenContext) =>
  `/o/${c.var.organization.slug}/surveys/${c.req.param('id')}/contacts`;

const contactParams = (c: ScreenContext) => ({
  surveyId: idParam(c, 'survey'),
  id: idParam(c, 'contact', 'contact'),
});

type Deletion = { title: string; what: string; cancel: string };

async function confirmDeletion(c: ScreenContext, db: Db, { title, what, cancel }: Deletion) {
  const { id: orgId, slug } = c.var.organization;
  const survey = await getOrgSurvey(db, orgId, idParam(c, 'survey'));
  const here = `/o/${slug}/surveys/${survey.id}`;
  return renderScreen(c, {
    title,
    section: 'surveys',
    body: (
      <Confirm action={c.req.path} button="Delete" cancel={cancel}>
        <p>{what}</p>
      </Confirm>
    ),
    trail: [
      { text: 'Surveys', href: `/o/${slug}/surveys` },
      { text: survey.name, href: here },
      { text: 'Contacts', href: `${here}/contacts` },
    ],
  });
}

type ScreenContext = Context<ScreenEnv>;

async function orShowError(c: ScreenContext, db: Db, act: () => Promise<Response>) {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof Refusal) || error.kind === 'not_found') throw error;
    const form = await withFieldError(c, { '': toSentence(error.message) });
    return await showList(c, db, form);
  }
}

async function showList(c: ScreenContext, db: Db, form: FormState) {
  const { id: orgId, slug, role } = c.var.organization;
  const surveyId = idParam(c, 'survey');
  const { page: number, limit } = parsePage(c.req.queries());
  const page = { page: number, limit };
  const search = c.req.query('search')?.trim() ?? '';
  const survey = await getOrgSurvey(db, orgId, surveyId);
  const contacts = await listContactsOf(db, { orgId, surveyId }, { page, search });
  const base = `/o/${slug}/surveys`;
  const here = `${base}/${surveyId}`;
  const body = (
    <>
      <div class="views">
        <SurveyTabs organization={c.var.organization} id={surveyId} current="contacts" />
      </div>
      <ContactList
        {...contacts}
        page={page}
        search={search}
        form={form}
        here={here}
        mayEdit={role !== 'viewer'}
        askAfterDays={survey.ask_after_days}
      />
    </>
  );
  return renderScreen(c, {
    title: `Contacts of ${survey.name}`,
    section: 'surveys',
    body,
    status: statusOf(form),
    trail: [
      { text: 'Surveys', href: base },
      { text: survey.name, href: here },
    ],
    actions: <LinkButton href={`${here}/send`} text="Send" kind="primary" />,
  });
}

async function showUpload(c: ScreenContext, db: Db, upload: Upload, form = emptyForm()) {
  const { id: orgId, slug } = c.var.organization;
  const survey = await getOrgSurvey(db, orgId, upload.survey_id);
  const here = `/o/${slug}/surveys/${survey.id}`;
  const body = await uploadBody(db, upload, form, here, orgId);
  return renderScreen(c, {
    title: `${upload.imported_at ? 'Imported' : 'Columns of'} ${upload.name}`,
    section: 'surveys',
    body,
    status: statusOf(form),
    trail: [
      { text: 'Surveys', href: `/o/${slug}/surveys` },
      { text: survey.name, href: here },
      { text: 'Contacts', href: `${here}/contacts` },
    ],
  });
}

async function readUpload(c: ScreenContext, db: Db, orgId: string): Promise<Upload> {
  const id = idParam(c, 'list', 'upload');
  return await getUpload(db, orgId, { id, surveyId: idParam(c, 'survey') });
}

async function readList({ file, list }: v.InferOutput<typeof UploadFields>) {
  if (file && file.size > 0) return { name: file.name, bytes: await file.bytes() };
  if (list.trim() === '') {
    const mistake = file?.name
      ? `the file ${file.name} is empty`
      : 'choose a file, or paste a list';
    throw new Refusal('invalid', mistake);
  }
  return { name: 'pasted list', bytes: new TextEncoder().encode(list) };
}

const rejectsShown = 100;

async function uploadBody(db: Db, upload: Upload, form: FormState, here: string, orgId: string) {
  if (upload.imported_at) {
    const survey = { orgId, surveyId: upload.survey_id };
    const rejects = await listRejects(db, survey, { atMost: rejectsShown, uploadId: upload.id });
    return <UploadResult upload={upload} rejects={rejects} here={here} />;
  }
  const { columns, rows } = await previewUpload(db, orgId, upload);
  return (
    <form method="post" class="fields">
      <FormErrors form={form} />
      <p>
        {counted(upload.rows, 'row')}. Say what the columns are. Columns that are kept become
        properties, to be used in texts and filters.
      </p>
      {columns.some(({ use }) => use === 'name') ? null : (
        <p>No column seems to hold names: mails then greet nobody by name.</p>
      )}
      {/* biome-ignore lint/a11y/useSemanticElements: a section would be a landmark with a line above it */}
      <div class="scroll" tabindex={0} role="region" aria-label="First rows">
        <table>
          <caption class="hidden">The first rows of the list</caption>
          <thead>
            <tr>
              {columns.map((column, place) => (
                <th scope="col">
                  <ColumnUses column={column} place={place} form={form} />
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
      <Checkbox name="header" label="The first row names the columns" checked={upload.has_header} />
      <SubmitOrCancel button="Import" cancel={`${here}/contacts`} />
      <LinkButton
        href={`${here}/contacts/uploads/${upload.id}/delete`}
        text="Delete this list"
        kind="more"
      />
    </form>
  );
}

const useTexts: Record<ColumnUse, string> = {
  email: 'Email',
  name: 'Name',
  language: 'Language',
  property: 'Keep as property',
  skip: 'Leave out',
};

type ColumnUsesProps = { column: UploadColumn; place: number; form: FormState };

function ColumnUses({ column: { name, use }, place, form }: ColumnUsesProps) {
  const id = `column_${place}`;
  const chosen = form.typed[id] ?? use;
  return (
    <div class="field">
      <label for={id} dir="auto">
        {name}
      </label>
      <select id={id} name={id}>
        {columnUses.map((value) => (
          <option value={value} selected={value === chosen}>
            {useTexts[value]}
          </option>
        ))}
      </select>
    </div>
  );
}

type ImportedProps = { upload: Upload; rejects: readonly UploadReject[]; here: string };

function UploadResult({ upload, rejects, here }: ImportedProps) {
  return (
    <>
      <Notice kind="fine" text={`${summaryOf(upload)}.`} />
      <div class="actions">
        <LinkButton href={`${here}/send`} text="See who would be mailed" kind="primary" />
        <LinkButton href={`${here}/contacts`} text="Back to the list" kind="more" />
        {upload.added ? (
          <LinkButton
            href={`${here}/contacts/uploads/${upload.id}/delete`}
            text="Delete what was added"
            kind="more"
          />
        ) : null}
      </div>
      {rejects.length > 0 ? (
        <section aria-labelledby="rejects">
          <div class="title">
            <h2 id="rejects">Lines that were left out</h2>
            <span class="small soft">
              {rejects.length < (upload.rejected ?? 0)
                ? `the first ${count(rejects.length)} of ${counted(upload.rejected ?? 0, 'line')}`
                : counted(rejects.length, 'line')}
            </span>
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

type ContactListProps = {
  contacts: readonly SurveyContact[];
  total: number;
  page: { page: number; limit: number };
  search: string;
  form: FormState;
  here: string;
  mayEdit: boolean;
  askAfterDays: number | null;
};

function ContactList({
  contacts,
  total,
  page,
  search,
  form,
  here,
  mayEdit,
  askAfterDays,
}: ContactListProps) {
  return (
    <>
      <FormErrors form={form} />
      {mayEdit ? (
        <section class="columns even" aria-label="Add contacts">
          <UploadForm form={form} here={here} />
          <AddForm form={form} here={here} />
        </section>
      ) : null}
      <SearchedList
        path={`${here}/contacts`}
        id="contacts"
        search={{
          name: 'search',
          label: 'Search',
          purpose: 'Find a contact',
          value: search,
          placeholder: 'Address or name',
        }}
        found={counted(total, 'contact')}
        about="Newest first"
        none={{
          title: 'This survey has no contacts yet.',
          means: `Upload a list, or add one contact. ${sendingMeans(askAfterDays)}`,
        }}
        noneFound={{ title: 'No contact matches.', means: 'Search for less of it.' }}
        meta={{ ...page, total }}
      >
        <DataTable
          caption="Contacts, newest first"
          columns={[
            { head: 'Email' },
            { head: 'Name' },
            { head: 'State' },
            { head: 'Mailed' },
            { head: 'Answered' },
            ...(mayEdit ? [{ head: 'Acts', hidden: true, number: true }] : []),
          ]}
          rows={contacts.map((contact) => ({
            cells: [
              ...cellsOf(contact),
              ...(mayEdit
                ? [
                    <a href={`${here}/contacts/${contact.id}/delete`}>
                      Delete<span class="hidden"> {contact.email}</span>
                    </a>,
                  ]
                : []),
            ],
          }))}
        />
      </SearchedList>
    </>
  );
}

function UploadForm({ form, here }: { form: FormState; here: string }) {
  return (
    <div>
      <h2 id="upload">Upload a list</h2>
      <form
        method="post"
        action={`${here}/contacts/uploads`}
        enctype="multipart/form-data"
        class="fields"
      >
        <Field
          name="file"
          label="File"
          type="file"
          accept=".csv,.tsv,.txt,text/csv"
          form={form}
          help="CSV with a column of addresses, of any separator, with or without a header; at most 100,000 rows."
        />
        <Field
          name="list"
          label="List"
          rows={3}
          form={form}
          help="Or paste rows from a spreadsheet."
        />
        <div class="actions">
          <button type="submit">Upload</button>
        </div>
      </form>
    </div>
  );
}

function AddForm({ form, here }: { form: FormState; here: string }) {
  return (
    <div>
      <h2 id="add">Add one</h2>
      <form method="post" action={`${here}/contacts`} class="fields">
        <Field name="email" label="Email" type="email" form={form} autocomplete="off" required />
        <Field name="name" label="Name" form={form} autocomplete="off" maxlength={200} />
        <div class="actions">
          <button type="submit">Add</button>
        </div>
      </form>
    </div>
  );
}

function cellsOf({ email, name, status, failure_reason, sent_at, responded_at }: SurveyContact) {
  const [kind, word] = statusWords[status];
  return [
    <bdi>{email}</bdi>,
    name ? <bdi>{name}</bdi> : '',
    <>
      <State kind={kind} code={status}>
        {word}
      </State>
      {failure_reason ? <span class="small soft block">{failure_reason}</span> : null}
    </>,
    sent_at ? <Time at={sent_at} show="ago" /> : '',
    responded_at ? <Time at={responded_at} show="ago" /> : '',
  ];
}

function sendingMeans(askAfterDays: number | null): string {
  if (askAfterDays === null) return 'Nothing is sent before you press Send.';
  const when =
    askAfterDays === 0 ? 'as soon as it is added' : `${counted(askAfterDays, 'day')} later`;
  return `This survey asks by itself: it mails each contact ${when}.`;
}

const statusWords = {
  pending: ['waiting', 'Not asked yet'],
  sending: ['waiting', 'Being mailed'],
  sent: ['fine', 'Mailed'],
  responded: ['fine', 'Answered'],
  failed: ['failed', 'Failed'],
  bounced: ['failed', 'Bounced'],
  unsubscribed: ['skipped', 'Unsubscribed'],
} as const;

function summaryOf({ added, known, repeated, rejected }: Upload) {
  return [
    `${counted(added ?? 0, 'contact')} added`,
    `${count(known ?? 0)} known before`,
    ...(repeated ? [`${count(repeated)} listed twice`] : []),
    ...(rejected ? [`${counted(rejected, 'line')} left out`] : []),
  ].join(', ');
}
