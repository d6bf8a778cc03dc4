import { type Context, Hono } from 'hono';
import * as v from 'valibot';
import { recordExport } from '../../audit/export.ts';
import { Refusal, toSentence } from '../../errors.ts';
import type { Db } from '../../lib/db/db.ts';
import { csvLine, exportResponse } from '../../lib/export/export.ts';
import { parsePage } from '../../lib/paging/page.ts';
import { idParam } from '../../lib/validation/parse.ts';
import { requireRole, type ScreenEnv } from '../../sessions/session.ts';
import { getOrgSurvey } from '../../surveys/queries.ts';
import { Breakable, Confirm, FormErrors, Notice, State, Time } from '../../web/app/badges.tsx';
import { PartsBar } from '../../web/app/drawings.tsx';
import { redirectWith } from '../../web/app/flash.ts';
import {
  Checkbox,
  emptyForm,
  Field,
  FoldCard,
  type FormState,
  LinkButton,
  optionalText,
  readForm,
  Select,
  statusOf,
  withFieldError,
} from '../../web/app/forms.tsx';
import { count, counted, DataTable, Live, SearchedList } from '../../web/app/lists.tsx';
import { renderScreen, type Screen } from '../../web/app/screen.tsx';
import { renderSurveyScreen } from '../../web/app/survey-screen.tsx';
import { ContactName, Email } from '../api.ts';
import { getContactOf, listContactsOf, type SurveyContact } from '../queries.ts';
import { addContact, deleteContact } from '../save.ts';
import { getUpload, listRejects, type Upload, type UploadReject } from '../upload.queries.ts';
import {
  type ColumnUse,
  columnUses,
  deleteUploadedContacts,
  importUpload,
  maxRejectsKept,
  maxUploadBytes,
  previewUpload,
  reviewUpload,
  runInUploadSlot,
  saveUpload,
  type UploadColumn,
} from '../upload.ts';

const maxFormBytes = maxUploadBytes + 1024 * 1024;

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
        return redirectWith(c, c.req.path, 'Contact added.');
      });
    })

    .post('/:id/contacts/uploads', async (c) => {
      const editor = requireRole(c, 'editor');
      const surveyId = idParam(c, 'survey');
      await getOrgSurvey(db, editor.orgId, surveyId);
      return await runInUploadSlot(editor.orgId, async () => {
        const form = await readForm(c, UploadFields, { largest: maxFormBytes });
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
      const upload = await readUpload(c, db, orgId);
      return await showUpload(c, db, upload, emptyForm(c.req.query()));
    })

    .post('/:id/contacts/uploads/:upload', async (c) => {
      const editor = requireRole(c, 'editor');
      const { values: typed = {} } = await readForm(c, MapFields);
      const upload = await readUpload(c, db, editor.orgId);
      const hasHeader = 'header' in typed;
      const { columns } = await previewUpload(db, editor.orgId, upload, hasHeader);
      const list = { upload, columns: mapColumns(columns, typed), hasHeader };
      const showError = async (error: string) =>
        await showUpload(c, db, upload, await withFieldError(c, { '': error }));
      const error = validateColumns(list.columns);
      if (error) return await showError(error);
      try {
        await runInUploadSlot(editor.orgId, () => importUpload({ db }, editor, list));
      } catch (error) {
        if (!(error instanceof Refusal) || error.code !== 'no_addresses') throw error;
        return await showError(`${toSentence(error.message)} Choose another column.`);
      }
      return c.redirect(c.req.path, 303);
    })

    .get('/:id/contacts/uploads/:upload/skipped.csv', async (c) => {
      const editor = requireRole(c, 'editor');
      const { orgId } = editor;
      const { id: uploadId, survey_id: surveyId } = await readUpload(c, db, orgId);
      const page = { atMost: maxRejectsKept, uploadId };
      const rows = await listRejects(db, { orgId, surveyId }, page);
      await recordExport(db, editor, 'contacts.exported');
      return exportResponse('csv', { name: 'skipped-rows', parts: linesOf(rows) });
    })

    .get('/:id/contacts/uploads/:upload/delete', async (c) => {
      const { orgId } = requireRole(c, 'editor');
      const upload = await readUpload(c, db, orgId);
      return await confirmDeletion(c, db, {
        title: `Delete ${upload.name}`,
        cancel: c.req.path.replace(/\/delete$/, ''),
        what: upload.imported_at
          ? `Deletes the ${counted(upload.added ?? 0, 'contact')} that this list added, except the ones that were emailed or have responded since.`
          : 'Deletes the uploaded list. No contacts were imported from it.',
      });
    })

    .post('/:id/contacts/uploads/:upload/delete', async (c) => {
      const editor = requireRole(c, 'editor');
      const upload = await readUpload(c, db, editor.orgId);
      const deleted = await deleteUploadedContacts({ db }, editor, upload);
      const text = `List and ${counted(deleted, 'contact')} deleted.`;
      return redirectWith(c, contactsPath(c), text);
    })

    .get('/:id/contacts/:contact/delete', async (c) => {
      const { orgId } = requireRole(c, 'editor');
      const contact = await getContactOf(db, orgId, contactParams(c));
      return await confirmDeletion(c, db, {
        title: `Delete ${contact.email}`,
        cancel: contactsPath(c),
        what: 'Permanently deletes the contact from this survey, with its emails and responses. Other surveys can still email this address.',
      });
    })

    .post('/:id/contacts/:contact/delete', async (c) => {
      const editor = requireRole(c, 'editor');
      const { id } = await getContactOf(db, editor.orgId, contactParams(c));
      return await orShowError(c, db, async () => {
        await deleteContact({ db }, editor, id);
        return redirectWith(c, contactsPath(c), 'Contact deleted.');
      });
    });
}

async function* linesOf(rows: readonly UploadReject[]) {
  yield csvLine(['line', 'value', 'reason']);
  for (const { line, value, reason } of rows) yield csvLine([line, value, reason]);
}

const mapColumns = (columns: readonly UploadColumn[], typed: Readonly<Record<string, unknown>>) =>
  columns.map(({ name }, place) => {
    const use = v.safeParse(Use, typed[`column_${place}`]);
    return { name, use: use.success ? use.output : ('skip' as const) };
  });

function validateColumns(columns: readonly UploadColumn[]): string | undefined {
  const emailColumns = columns.filter(({ use }) => use === 'email').length;
  if (emailColumns === 0) return 'Choose the column that contains the email addresses.';
  return emailColumns > 1 ? 'Choose one column for Email.' : undefined;
}

const surveyPath = (c: ScreenContext) =>
  `/o/${c.var.organization.slug}/surveys/${c.req.param('id')}`;

const contactsPath = (c: ScreenContext) => `${surveyPath(c)}/contacts`;

const contactParams = (c: ScreenContext) => ({
  surveyId: idParam(c, 'survey'),
  id: idParam(c, 'contact', 'contact'),
});

type Deletion = { title: string; what: string; cancel: string };

const confirmDeletion = (c: ScreenContext, db: Db, { title, what, cancel }: Deletion) =>
  renderBelowContacts(c, db, {
    title,
    body: (
      <Confirm action={c.req.path} button="Delete" cancel={cancel}>
        <p>{what}</p>
      </Confirm>
    ),
  });

async function renderBelowContacts(
  c: ScreenContext,
  db: Db,
  screen: Pick<Screen, 'title' | 'body' | 'form'>,
) {
  const survey = await getOrgSurvey(db, c.var.organization.id, idParam(c, 'survey'));
  const contacts = { text: 'Contacts', href: contactsPath(c) };
  return renderScreen(c, {
    ...screen,
    section: 'surveys',
    trail: [...trailTo(c, survey), contacts],
  });
}

const trailTo = (c: ScreenContext, { name }: { name: string }) => [
  { text: 'Surveys', href: `/o/${c.var.organization.slug}/surveys` },
  { text: name, href: surveyPath(c) },
];

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
  const { id: orgId, role } = c.var.organization;
  const surveyId = idParam(c, 'survey');
  const { page: number, limit } = parsePage(c.req.queries());
  const page = { page: number, limit };
  const search = c.req.query('search')?.trim() ?? '';
  const survey = await getOrgSurvey(db, orgId, surveyId);
  const { contacts, total } = await listContactsOf(db, { orgId, surveyId }, { page, search });
  const here = surveyPath(c);
  const mayEdit = role !== 'viewer';
  const isOpen = (total === 0 && search === '') || statusOf(form) === 422;
  const isAnySent = contacts.some(({ sent_at, responded_at }) => sent_at || responded_at);
  const body = (
    <>
      <FormErrors form={form} />
      {mayEdit ? (
        <div class="grid half">
          <FoldCard title="Upload a list" isOpen={isOpen}>
            <UploadForm form={form} here={here} />
          </FoldCard>
          <FoldCard title="Add a contact" isOpen={isOpen}>
            <AddForm form={form} here={here} />
          </FoldCard>
        </div>
      ) : null}
      <SearchedList
        path={`${here}/contacts`}
        id="contacts"
        search={{
          name: 'search',
          label: 'Search',
          purpose: 'Find a contact',
          value: search,
          placeholder: 'Email or name',
        }}
        found={counted(total, 'contact')}
        about="Newest first"
        none={{
          title: 'No contacts yet',
          icon: 'users',
          means: `${mayEdit ? 'Upload a list or add a contact. ' : ''}${describeSending(survey.ask_after_days)}`,
        }}
        noneFound={{ title: 'No contacts match', means: 'Try a shorter search.' }}
        meta={{ ...page, total }}
      >
        <DataTable
          caption="Contacts, newest first"
          columns={[
            { head: 'Email' },
            { head: 'Name' },
            { head: 'Status' },
            ...(isAnySent
              ? [
                  { head: 'Sent', before: 'Sent ' },
                  { head: 'Responded', before: 'Responded ' },
                ]
              : []),
            ...(mayEdit ? [{ head: 'Actions', hidden: true, number: true }] : []),
          ]}
          rows={contacts.map((contact) => ({
            cells: [
              ...cellsOf(contact),
              ...(isAnySent ? timesOf(contact) : []),
              ...(mayEdit
                ? [
                    <LinkButton
                      href={`${here}/contacts/${contact.id}/delete`}
                      text="Delete"
                      about={contact.email}
                      kind="quiet"
                      mini
                    />,
                  ]
                : []),
            ],
          }))}
        />
      </SearchedList>
    </>
  );
  return renderSurveyScreen(c, {
    survey,
    tab: 'contacts',
    title: `Contacts of ${survey.name}`,
    body,
    form,
  });
}

async function showUpload(c: ScreenContext, db: Db, upload: Upload, form = emptyForm()) {
  return await renderBelowContacts(c, db, {
    title: upload.imported_at ? `Imported ${upload.name}` : `Columns of ${upload.name}`,
    body: await (upload.imported_at ? resultBody(c, db, upload) : columnsBody(c, db, upload, form)),
    form,
  });
}

const readUpload = (c: ScreenContext, db: Db, orgId: string) =>
  getUpload(db, orgId, { id: idParam(c, 'list', 'upload'), surveyId: idParam(c, 'survey') });

async function readList({ file, list }: v.InferOutput<typeof UploadFields>) {
  if (file && file.size > 0) return { name: file.name, bytes: await file.bytes() };
  if (list.trim() === '') {
    throw new Refusal(
      'invalid',
      file?.name ? `the file ${file.name} is empty` : 'choose a file or paste a list',
    );
  }
  return { name: 'pasted list', bytes: new TextEncoder().encode(list) };
}

const maxRejectsShown = 100;

async function columnsBody(c: ScreenContext, db: Db, upload: Upload, form: FormState) {
  const orgId = c.var.organization.id;
  const here = surveyPath(c);
  const isTyped = 'column_0' in form.typed;
  const hasHeader = isTyped ? 'header' in form.typed : upload.has_header;
  const { columns: guessed, rows } = await previewUpload(db, orgId, upload, hasHeader);
  const columns = isTyped ? mapColumns(guessed, form.typed) : guessed;
  const error = validateColumns(columns);
  const survey = { orgId, surveyId: upload.survey_id };
  const list = { upload, columns, hasHeader };
  const review = error ? null : await runInUploadSlot(orgId, () => reviewUpload(db, survey, list));
  const { ask_after_days } = await getOrgSurvey(db, orgId, upload.survey_id);
  return (
    <form
      method="post"
      action={c.req.path}
      class="stack"
      hx-get={c.req.path}
      hx-trigger="change"
      hx-target="#review"
      hx-select="#review"
      hx-select-oob="#mapping:outerMorph"
      hx-swap="outerHTML"
      hx-sync="this:replace"
    >
      <FormErrors form={form} />
      <section id="mapping" class="card stack" aria-labelledby="columns">
        <div class="title">
          <h2 id="columns">Columns</h2>
          <span class="sub">
            {counted(upload.rows + Number(upload.has_header) - Number(hasHeader), 'row')}
          </span>
        </div>
        <div class="opts">
          <DataTable
            caption="Columns of the list"
            columns={[
              'Column',
              { head: 'Examples', phone: 'line' },
              { head: 'Use as', phone: 'beside' },
            ]}
            rows={columns.map(({ name, use }, place) => ({
              cells: [
                <bdi>{name}</bdi>,
                <Examples values={rows.map(({ cells }) => cells[place] ?? '')} />,
                <Select name={`column_${place}`} label={name} value={use} options={uses} />,
              ],
            }))}
          />
        </div>
        <Checkbox name="header" label="First row is a header" checked={hasHeader} />
        <p class="sub">
          Properties personalize texts and filter responses.
          {columns.some(({ use }) => nameUses.includes(use))
            ? ''
            : ' No column seems to contain names, so emails won’t greet contacts by name.'}
        </p>
      </section>
      <Live
        id="review"
        says={review ? `${counted(review.added, 'contact')} will be added` : (error ?? '')}
      >
        {review ? <Review review={review} /> : <p class="notice is-warn">{error}</p>}
      </Live>
      <p class="sub">{describeSending(ask_after_days)}</p>
      <div class="acts">
        <button type="submit" class="primary">
          Import
        </button>
        <button type="submit" formmethod="get">
          Check again
        </button>
        <LinkButton href={`${here}/contacts`} text="Cancel" kind="quiet" />
        <LinkButton
          href={`${here}/contacts/uploads/${upload.id}/delete`}
          text="Delete this list"
          kind="quiet"
        />
      </div>
    </form>
  );
}

const maxExamples = 3;

function Examples({ values }: { values: readonly string[] }) {
  const examples = [...new Set(values)].filter((value) => value !== '').slice(0, maxExamples);
  return (
    <span class="soft">
      {examples.map((value, at) => (
        <>
          {at > 0 ? ' · ' : null}
          <bdi>
            <Breakable text={value} />
          </bdi>
        </>
      ))}
    </span>
  );
}

type ReviewProps = { review: Awaited<ReturnType<typeof reviewUpload>> };

function Review({ review: { added, known, repeated, rejected, skipped } }: ReviewProps) {
  const left = repeated + rejected;
  return (
    <>
      <section class="card" aria-labelledby="counts">
        <h2 id="counts" class="figure">
          {count(added)} <small>{added === 1 ? 'contact' : 'contacts'} will be added</small>
        </h2>
        <PartsBar
          parts={[
            { tone: 'is-good', name: 'New', share: added, figure: count(added) },
            { tone: 'is-even', name: 'Already known', share: known, figure: count(known) },
            { tone: 'is-warn', name: 'Skipped', share: left, figure: count(left) },
          ]}
        />
      </section>
      <SkippedRows rows={skipped.slice(0, maxRejectsShown)} total={left} />
    </>
  );
}

type SkippedRowsProps = { rows: readonly UploadReject[]; total: number; file?: string };

function SkippedRows({ rows, total, file }: SkippedRowsProps) {
  if (rows.length === 0) return null;
  return (
    <section class="card" aria-labelledby="rejects">
      <div class="title">
        <h2 id="rejects">Skipped rows</h2>
        <span class="sub">
          {rows.length < total
            ? `first ${count(rows.length)} of ${counted(total, 'row')}`
            : counted(total, 'row')}
        </span>
      </div>
      <ul class="rows tight findings">
        {rows.map(({ line, value, reason }) => (
          <li>
            <span class="tag">Line {count(line)}</span>
            <span>
              {value === '' || reason.includes(value) ? null : (
                <>
                  <bdi>{value}</bdi>:{' '}
                </>
              )}
              <bdi>{reason}</bdi>
            </span>
          </li>
        ))}
      </ul>
      {file ? (
        <p>
          <a href={file}>
            Download{' '}
            {total > maxRejectsKept ? `the first ${count(maxRejectsKept)} rows` : 'all rows'} as CSV
          </a>
        </p>
      ) : null}
    </section>
  );
}

const nameUses: readonly ColumnUse[] = ['name', 'first_name', 'last_name'];
const useNames: Record<ColumnUse, string> = {
  email: 'Email',
  name: 'Name',
  first_name: 'First name',
  last_name: 'Last name',
  language: 'Language',
  property: 'Property',
  skip: 'Skip',
};
const uses = columnUses.map((value) => ({ value, text: useNames[value] }));

async function resultBody(c: ScreenContext, db: Db, upload: Upload) {
  const survey = { orgId: c.var.organization.id, surveyId: upload.survey_id };
  const page = { atMost: maxRejectsShown, uploadId: upload.id };
  const rejects = await listRejects(db, survey, page);
  const here = contactsPath(c);
  return (
    <>
      <Notice kind="fine" text={describeImport(upload)}>
        <div class="acts">
          <LinkButton href={`${surveyPath(c)}/send`} text="Review recipients" kind="primary" />
          <LinkButton href={here} text="Back to contacts" kind="quiet" />
          {upload.added ? (
            <LinkButton
              href={`${here}/uploads/${upload.id}/delete`}
              text="Delete added contacts"
              kind="quiet"
            />
          ) : null}
        </div>
      </Notice>
      <SkippedRows
        rows={rejects}
        total={upload.rejected ?? 0}
        file={`${here}/uploads/${upload.id}/skipped.csv`}
      />
    </>
  );
}

function UploadForm({ form, here }: { form: FormState; here: string }) {
  return (
    <form
      method="post"
      action={`${here}/contacts/uploads`}
      enctype="multipart/form-data"
      class="stack"
    >
      <Field
        name="file"
        label="File"
        type="file"
        accept=".csv,.tsv,.txt,.xlsx,text/csv"
        form={form}
        help="CSV or Excel (.xlsx, the first sheet with addresses), up to 100,000 rows. Any separator, header optional."
      />
      <Field
        name="list"
        label="Or paste a list"
        rows={3}
        form={form}
        help="Rows of a spreadsheet."
      />
      <div class="acts">
        <button type="submit">Upload</button>
      </div>
    </form>
  );
}

function AddForm({ form, here }: { form: FormState; here: string }) {
  return (
    <form method="post" action={`${here}/contacts`} class="stack">
      <Field name="email" label="Email" type="email" form={form} autocomplete="off" required />
      <Field name="name" label="Name" form={form} autocomplete="off" maxlength={200} />
      <div class="acts">
        <button type="submit">Add</button>
      </div>
    </form>
  );
}

function cellsOf({ email, name, round, status, failure_reason }: SurveyContact) {
  const [kind, label] = statusLabels[status];
  return [
    <bdi>
      <Breakable text={email} />
    </bdi>,
    name ? <bdi>{name}</bdi> : '',
    <>
      <State kind={kind} code={status}>
        {label}
      </State>
      {round > 1 ? <span class="sub block">Round {round}</span> : null}
      {failure_reason ? <span class="sub block">{failure_reason}</span> : null}
    </>,
  ];
}

const timesOf = ({ sent_at, responded_at }: SurveyContact) =>
  [sent_at, responded_at].map((at) => (at ? <Time at={at} show="ago" /> : ''));

function describeSending(askAfterDays: number | null): string {
  if (askAfterDays === null) return 'Nothing is sent until you press Send.';
  if (askAfterDays === 0) return 'The survey is sent to each contact as soon as you add it.';
  return `The survey is sent to each contact ${counted(askAfterDays, 'day')} after you add it.`;
}

const statusLabels = {
  pending: ['waiting', 'Not sent yet'],
  sending: ['waiting', 'Sending'],
  sent: ['fine', 'Sent'],
  responded: ['fine', 'Responded'],
  failed: ['failed', 'Failed'],
  bounced: ['failed', 'Bounced'],
  unsubscribed: ['skipped', 'Unsubscribed'],
} as const;

function describeImport({ added, known, repeated, rejected }: Upload) {
  const parts = [
    `${counted(added ?? 0, 'contact')} added`,
    `${count(known ?? 0)} already on the list`,
    ...(repeated ? [`${counted(repeated, 'duplicate')} skipped`] : []),
    ...(rejected ? [`${counted(rejected, 'row')} skipped`] : []),
  ];
  return `${parts.join(', ')}.`;
}
