import { type Context, Hono } from 'hono';
import type { Child } from 'hono/jsx';
import type * as v from 'valibot';
import type { Writer } from '../../audit/acts.ts';
import { capital } from '../../errors.ts';
import type { IfMatch } from '../../lib/http/version.ts';
import { idParam } from '../../lib/validation/parse.ts';
import { requireRole, type ScreenEnv } from '../../sessions/session.ts';
import { Confirm, FormErrors, Part } from './badges.tsx';
import { redirectWith } from './flash.ts';
import {
  emptyForm,
  Field,
  type FormState,
  LinkButton,
  readForm,
  readVersion,
  type StoredForm,
  Submit,
  SubmitOrCancel,
  tryAction,
  Version,
} from './forms.tsx';
import type { IconName } from './icon.tsx';
import { counted, DataTable, EmptyState, type TableColumn } from './lists.tsx';
import { renderSettings, type SettingName, settingPath } from './settings-screen.tsx';

type Named = { id: string; name: string };

type NamedThings<T extends Named, S extends v.GenericSchema> = {
  setting: SettingName;
  /** In lower case and singular. */
  noun: string;
  /** Who uses them, below the heading. */
  about: string;
  empty: { icon: IconName; text: string };
  /** Explains the effects of a deletion. */
  onDelete: string;
  fields: S;
  list: (orgId: string) => Promise<T[]>;
  get: (orgId: string, id: string) => Promise<T>;
  create: (writer: Writer, values: v.InferOutput<S>) => Promise<T>;
  change: (writer: Writer, id: string, values: v.InferOutput<S>, ifMatch: IfMatch) => Promise<T>;
  remove: (writer: Writer, id: string) => Promise<T>;
  storedForm: (thing: T) => StoredForm;
  /** The columns between the name and the actions. */
  columns: readonly TableColumn[];
  cells: (thing: T) => readonly [name: Child, ...others: Child[]];
  /** The fields of the form below the name. */
  formFields: (form: FormState, thing: T | undefined) => Child;
};

/** A settings page for things with a name, such as tags: a list, forms to create and change one, and its deletion. */
export function namedScreens<T extends Named, S extends v.GenericSchema>(
  things: NamedThings<T, S>,
) {
  const { setting, noun, storedForm } = things;
  const heading = capital(`${noun}s`);
  const refusedFields = { name_taken: 'name', [`too_many_${noun.replace(' ', '_')}s`]: 'name' };
  const listPath = (c: Context<ScreenEnv>) => settingPath(c.var.organization, setting);
  const backToList = (c: Context<ScreenEnv>, { name }: Named, done: string) =>
    redirectWith(c, listPath(c), `${capital(noun)} “${name}” ${done}.`);
  const find = (c: Context<ScreenEnv>) => things.get(c.var.organization.id, idParam(c, noun));

  async function showList(c: Context<ScreenEnv>, form: FormState) {
    const { id, role } = c.var.organization;
    const mayChange = role !== 'viewer';
    const list = listPath(c);
    const rows = await things.list(id);
    const actions = { head: 'Actions', hidden: true, number: true };
    const body = (
      <>
        <Part id={setting} title={heading}>
          <p class="sub">
            {counted(rows.length, noun)}. {things.about}
          </p>
          {rows.length === 0 ? (
            <EmptyState title={`No ${noun}s yet`} icon={things.empty.icon}>
              <p>{things.empty.text}</p>
            </EmptyState>
          ) : (
            <DataTable
              caption={`${heading}, by name`}
              columns={[{ head: 'Name' }, ...things.columns, ...(mayChange ? [actions] : [])]}
              rows={rows.map((thing) => ({
                cells: [
                  ...things.cells(thing),
                  ...(mayChange ? [<Actions {...thing} list={list} />] : []),
                ],
              }))}
            />
          )}
        </Part>
        {mayChange ? (
          <Part id="new" title={`New ${noun}`}>
            {formOf(c, form)}
          </Part>
        ) : null}
      </>
    );
    return renderSettings(c, { setting, body, form });
  }

  function showOne(c: Context<ScreenEnv>, thing: T, form: FormState) {
    const title = `Edit ${noun} “${thing.name}”`;
    return renderSettings(c, { setting, title, body: formOf(c, form, thing), form });
  }

  function formOf(c: Context<ScreenEnv>, form: FormState, thing?: T) {
    const list = listPath(c);
    const action = thing ? `${list}/${thing.id}` : list;
    return (
      <form method="post" action={action} class="card stack measure">
        <FormErrors form={form} />
        <Version form={form} value={thing && storedForm(thing).version} />
        <Field
          name="name"
          label="Name"
          form={form}
          value={thing?.name}
          maxlength={200}
          autocomplete="off"
          required
        />
        {things.formFields(form, thing)}
        {thing ? <SubmitOrCancel button="Save" cancel={list} /> : <Submit>Create {noun}</Submit>}
      </form>
    );
  }

  return new Hono<ScreenEnv>()
    .get('/', (c) => showList(c, emptyForm()))

    .post('/', async (c) => {
      const editor = requireRole(c, 'editor');
      const form = await readForm(c, things.fields);
      if (form.errors) return showList(c, form);
      const created = await tryAction(c, refusedFields, () => things.create(editor, form.values));
      if (isInvalid(created)) return showList(c, created);
      return backToList(c, created, 'created');
    })

    .get('/:id', async (c) => {
      requireRole(c, 'editor');
      return showOne(c, await find(c), emptyForm());
    })

    .post('/:id', async (c) => {
      const editor = requireRole(c, 'editor');
      const thing = await find(c);
      const form = await readForm(c, things.fields);
      if (form.errors) return showOne(c, thing, form);
      const ifMatch = await readVersion(c);
      const change = () => things.change(editor, thing.id, form.values, ifMatch);
      const changed = await tryAction(c, refusedFields, change, storedForm(thing));
      if (isInvalid(changed)) return showOne(c, thing, changed);
      return backToList(c, changed, 'saved');
    })

    .get('/:id/delete', async (c) => {
      requireRole(c, 'editor');
      const { id, name } = await find(c);
      const list = listPath(c);
      const body = (
        <Confirm action={`${list}/${id}/delete`} button="Delete" cancel={list}>
          <p>{things.onDelete}</p>
        </Confirm>
      );
      return renderSettings(c, { setting, title: `Delete ${noun} “${name}”`, body });
    })

    .post('/:id/delete', async (c) => {
      const editor = requireRole(c, 'editor');
      return backToList(c, await things.remove(editor, idParam(c, noun)), 'deleted');
    });
}

const isInvalid = (result: Named | FormState): result is FormState => 'errors' in result;

const Actions = ({ id, name, list }: Named & { list: string }) => (
  <span class="acts end">
    <LinkButton href={`${list}/${id}`} text="Edit" about={name} mini />
    <LinkButton href={`${list}/${id}/delete`} text="Delete" about={name} kind="danger" mini />
  </span>
);
