import { type Context, Hono } from 'hono';
import * as v from 'valibot';
import { Name } from '../lib/cli/command.ts';
import type { Db } from '../lib/db/db.ts';
import { idParam } from '../lib/validation/parse.ts';
import { requireRole, type ScreenEnv } from '../sessions/session.ts';
import { Confirm, FormErrors } from '../web/app/badges.tsx';
import { redirectWith } from '../web/app/flash.ts';
import {
  emptyForm,
  Field,
  type FormState,
  LinkButton,
  readForm,
  readVersion,
  Submit,
  SubmitOrCancel,
  statusOf,
  tryAction,
  Version,
} from '../web/app/forms.tsx';
import { counted, DataTable, EmptyState } from '../web/app/lists.tsx';
import { Part, renderSettings, settingPath } from '../web/app/settings-screen.tsx';
import {
  type CannedText,
  changeCannedText,
  createCannedText,
  deleteCannedText,
  getCannedText,
  listCannedTexts,
  versionOfCannedText,
} from './canned-texts.ts';
import { ReplyText } from './schemas.ts';

type CannedTextTools = { db: Db };

const refusedFields = { name_taken: 'name', too_many_canned_texts: 'name' };
const CannedTextFields = v.object({ name: Name, text: ReplyText });

/** Settings, Canned texts: below `/o/:slug/settings/canned-texts`. */
export const cannedTextScreens = ({ db }: CannedTextTools) =>
  new Hono<ScreenEnv>()
    .get('/', (c) => showCannedTexts(c, db, emptyForm()))

    .post('/', async (c) => {
      const editor = requireRole(c, 'editor');
      const form = await readForm(c, CannedTextFields);
      if (form.errors) return showCannedTexts(c, db, form);
      const created = await tryAction(c, refusedFields, () =>
        createCannedText(db, editor, form.values),
      );
      if ('errors' in created) return showCannedTexts(c, db, created);
      return backToList(c, `Canned text “${created.name}” created.`);
    })

    .get('/:id', async (c) => {
      requireRole(c, 'editor');
      return showCannedText(c, await cannedTextOf(db, c), emptyForm());
    })

    .post('/:id', async (c) => {
      const editor = requireRole(c, 'editor');
      const stored = await cannedTextOf(db, c);
      const form = await readForm(c, CannedTextFields);
      if (form.errors) return showCannedText(c, stored, form);
      const { id, name, text } = stored;
      const ifMatch = await readVersion(c);
      const changed = await tryAction(
        c,
        refusedFields,
        () => changeCannedText(db, editor, { id, ...form.values, ifMatch }),
        { version: versionOfCannedText(stored), fields: { name, text } },
      );
      if ('errors' in changed) return showCannedText(c, stored, changed);
      return backToList(c, `Canned text “${changed.name}” saved.`);
    })

    .get('/:id/delete', async (c) => {
      requireRole(c, 'editor');
      const { id, name } = await cannedTextOf(db, c);
      const list = listPath(c);
      const body = (
        <Confirm action={`${list}/${id}/delete`} button="Delete" cancel={list}>
          <p>Members can no longer insert it. Replies that contain it stay as they are.</p>
        </Confirm>
      );
      const title = `Delete canned text “${name}”`;
      return renderSettings(c, { setting: 'canned-texts', title, body });
    })

    .post('/:id/delete', async (c) => {
      const editor = requireRole(c, 'editor');
      const { name } = await deleteCannedText(db, editor, idParam(c, 'canned text'));
      return backToList(c, `Canned text “${name}” deleted.`);
    });

async function showCannedTexts(c: Context<ScreenEnv>, db: Db, form: FormState) {
  const { id, role } = c.var.organization;
  const texts = await listCannedTexts(db, id);
  const list = listPath(c);
  const mayChange = role !== 'viewer';
  const body = (
    <>
      <CannedTextList {...{ texts, list, mayChange }} />
      {mayChange ? (
        <Part id="new" title="New canned text">
          <CannedTextForm form={form} list={list} />
        </Part>
      ) : null}
    </>
  );
  return renderSettings(c, { setting: 'canned-texts', body, status: statusOf(form) });
}

function showCannedText(c: Context<ScreenEnv>, stored: CannedText, form: FormState) {
  const title = `Edit canned text “${stored.name}”`;
  const body = <CannedTextForm form={form} list={listPath(c)} stored={stored} />;
  return renderSettings(c, { setting: 'canned-texts', title, body, status: statusOf(form) });
}

const listPath = (c: Context<ScreenEnv>) => settingPath(c.var.organization, 'canned-texts');

const backToList = (c: Context<ScreenEnv>, text: string) => redirectWith(c, listPath(c), text);

const cannedTextOf = (db: Db, c: Context<ScreenEnv>) =>
  getCannedText(db, c.var.organization.id, idParam(c, 'canned text'));

type ListProps = { texts: readonly CannedText[]; list: string; mayChange: boolean };

function CannedTextList({ texts, list, mayChange }: ListProps) {
  const actions = mayChange ? [{ head: 'Actions', hidden: true, number: true }] : [];
  return (
    <Part id="canned-texts" title="Canned texts">
      <p class="sub">
        {counted(texts.length, 'canned text')}. Members insert them into replies to responses.
      </p>
      {texts.length === 0 ? (
        <EmptyState title="No canned texts yet" icon="reply">
          <p>Save a text here that you often send in replies, such as thanks or an apology.</p>
        </EmptyState>
      ) : (
        <DataTable
          caption="Canned texts, by name"
          columns={[{ head: 'Name' }, { head: 'Text', phone: 'line' }, ...actions]}
          rows={texts.map(({ id, name, text }) => ({
            cells: [
              <bdi>{name}</bdi>,
              <span dir="auto">{shorten(text)}</span>,
              ...(mayChange
                ? [
                    <span class="acts end">
                      <LinkButton href={`${list}/${id}`} text="Edit" about={name} mini />
                      <LinkButton
                        href={`${list}/${id}/delete`}
                        text="Delete"
                        about={name}
                        kind="danger"
                        mini
                      />
                    </span>,
                  ]
                : []),
            ],
          }))}
        />
      )}
    </Part>
  );
}

const maxShown = 120;

const shorten = (text: string) =>
  text.length > maxShown ? `${text.slice(0, maxShown).toWellFormed()}…` : text;

type FormProps = { form: FormState; list: string; stored?: CannedText };

function CannedTextForm({ form, list, stored }: FormProps) {
  return (
    <form method="post" action={stored ? `${list}/${stored.id}` : list} class="card stack measure">
      <FormErrors form={form} />
      <Version form={form} value={stored && versionOfCannedText(stored)} />
      <Field
        name="name"
        label="Name"
        form={form}
        value={stored?.name}
        maxlength={200}
        autocomplete="off"
        required
      />
      <Field name="text" label="Text" rows={6} form={form} value={stored?.text} required />
      {stored ? (
        <SubmitOrCancel button="Save" cancel={list} />
      ) : (
        <Submit>Create canned text</Submit>
      )}
    </form>
  );
}
