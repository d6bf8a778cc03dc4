import { type Context, Hono } from 'hono';
import * as v from 'valibot';
import { Color, Name } from '../lib/cli/command.ts';
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
  withFieldError,
} from '../web/app/forms.tsx';
import { counted, DataTable, EmptyState } from '../web/app/lists.tsx';
import { Part, renderSettings, settingPath } from '../web/app/settings-screen.tsx';
import {
  changeTag,
  createTag,
  defaultTagColor,
  deleteTag,
  getTag,
  listTags,
  type TagRow,
  versionOfTag,
} from './tags.ts';

type TagScreenTools = { db: Db };

const refusedFields = { name_taken: 'name' };
const TagFields = v.object({ name: Name, color: v.optional(Color, defaultTagColor) });

/** Routes below `/o/:slug/settings/tags`. */
export const tagScreens = ({ db }: TagScreenTools) =>
  new Hono<ScreenEnv>()
    .get('/', (c) => showTags(c, db, emptyForm()))

    .post('/', async (c) => {
      const editor = requireRole(c, 'editor');
      const form = await readForm(c, TagFields);
      if (form.errors) return showTags(c, db, form);
      const twin = await findTwin(db, editor.orgId, form.values);
      if (twin) return showTags(c, db, await withFieldError(c, { name: nameTaken(twin) }));
      const created = await tryAction(c, refusedFields, () => createTag(db, editor, form.values));
      if ('errors' in created) return showTags(c, db, created);
      return backToList(c, `Tag “${created.name}” created.`);
    })

    .get('/:id', async (c) => {
      requireRole(c, 'editor');
      return showTag(c, await tagOf(db, c), emptyForm());
    })

    .post('/:id', async (c) => {
      const editor = requireRole(c, 'editor');
      const tag = await tagOf(db, c);
      const form = await readForm(c, TagFields);
      if (form.errors) return showTag(c, tag, form);
      const { id } = tag;
      // A tag that the API created beside its twin keeps its name.
      const isRenamed = form.values.name !== tag.name;
      const twin = isRenamed && (await findTwin(db, editor.orgId, { id, ...form.values }));
      if (twin) return showTag(c, tag, await withFieldError(c, { name: nameTaken(twin) }));
      const ifMatch = await readVersion(c);
      const changed = await tryAction(
        c,
        refusedFields,
        () => changeTag(db, editor, { id, ...form.values, ifMatch }),
        storedTag(tag),
      );
      if ('errors' in changed) return showTag(c, tag, changed);
      return backToList(c, `Tag “${changed.name}” saved.`);
    })

    .get('/:id/delete', async (c) => {
      requireRole(c, 'editor');
      const { id, name } = await tagOf(db, c);
      const list = listPath(c);
      const body = (
        <Confirm action={`${list}/${id}/delete`} button="Delete" cancel={list}>
          <p>
            Removes the tag from all responses. Filters that use it will return nothing. The
            responses stay.
          </p>
        </Confirm>
      );
      const title = `Delete tag “${name}”`;
      return renderSettings(c, { setting: 'tags', title, body });
    })

    .post('/:id/delete', async (c) => {
      const editor = requireRole(c, 'editor');
      const { name } = await deleteTag(db, editor, (await tagOf(db, c)).id);
      return backToList(c, `Tag “${name}” deleted.`);
    });

/** Another tag whose name differs only in case. Only the API accepts both. */
async function findTwin(db: Db, orgId: string, { id, name }: { id?: string; name: string }) {
  const key = name.toLowerCase();
  const tags = await listTags(db, orgId);
  return tags.find((tag) => tag.id !== id && tag.name.toLowerCase() === key);
}

const nameTaken = ({ name }: TagRow) => `The organization already has a tag named ${name}.`;

async function showTags(c: Context<ScreenEnv>, db: Db, form: FormState) {
  const { id, role } = c.var.organization;
  const tags = await listTags(db, id);
  const list = listPath(c);
  const body = (
    <>
      <TagList tags={tags} list={list} mayChange={role !== 'viewer'} />
      {role === 'viewer' ? null : (
        <Part id="new" title="New tag">
          <TagForm form={form} list={list} />
        </Part>
      )}
    </>
  );
  return renderSettings(c, { setting: 'tags', body, status: statusOf(form) });
}

function showTag(c: Context<ScreenEnv>, tag: TagRow, form: FormState) {
  const list = listPath(c);
  const title = `Edit tag “${tag.name}”`;
  const body = <TagForm form={form} list={list} tag={tag} />;
  return renderSettings(c, { setting: 'tags', title, body, status: statusOf(form) });
}

const listPath = (c: Context<ScreenEnv>) => settingPath(c.var.organization, 'tags');

const backToList = (c: Context<ScreenEnv>, text: string) => redirectWith(c, listPath(c), text);

const tagOf = (db: Db, c: Context<ScreenEnv>) =>
  getTag(db, c.var.organization.id, idParam(c, 'tag'));

const storedTag = (tag: TagRow) => ({
  version: versionOfTag(tag),
  fields: { name: tag.name, color: tag.color.toLowerCase() }, // as browsers send a color
});

function TagList({ tags, list, mayChange }: { tags: TagRow[]; list: string; mayChange: boolean }) {
  const actions = mayChange ? [{ head: 'Actions', hidden: true, number: true }] : [];
  return (
    <Part id="tags" title="Tags">
      <p class="sub">{counted(tags.length, 'tag')}. Everyone in the organization sees them.</p>
      {tags.length === 0 ? (
        <EmptyState title="No tags yet" icon="layers">
          <p>Use tags to group responses across surveys, for example by topic.</p>
        </EmptyState>
      ) : (
        <DataTable
          caption="Tags, by name"
          columns={[{ head: 'Name' }, ...actions]}
          rows={tags.map((tag) => ({
            cells: [
              <>
                <Dot color={tag.color} /> <bdi>{tag.name}</bdi>
              </>,
              ...(mayChange ? [<TagActions tag={tag} list={list} />] : []),
            ],
          }))}
        />
      )}
    </Part>
  );
}

function TagActions({ tag: { id, name }, list }: { tag: TagRow; list: string }) {
  return (
    <span class="acts end">
      <LinkButton href={`${list}/${id}`} text="Edit" about={name} mini />
      <LinkButton href={`${list}/${id}/delete`} text="Delete" about={name} kind="danger" mini />
    </span>
  );
}

/** An SVG, because the CSP forbids inline styles. */
const Dot = ({ color }: { color: string }) => (
  <svg class="dot" viewBox="0 0 8 8" role="img" aria-label={`color ${color}`}>
    <circle cx="4" cy="4" r="4" fill={color} />
  </svg>
);

type TagFormProps = { form: FormState; list: string; tag?: TagRow };

function TagForm({ form, list, tag }: TagFormProps) {
  return (
    <form method="post" action={tag ? `${list}/${tag.id}` : list} class="card stack narrow">
      <FormErrors form={form} />
      <Version form={form} value={tag && versionOfTag(tag)} />
      <Field
        name="name"
        label="Name"
        form={form}
        value={tag?.name}
        maxlength={200}
        autocomplete="off"
        required
      />
      <Field
        name="color"
        label="Color"
        type="color"
        form={form}
        value={tag?.color ?? defaultTagColor}
      />
      {tag ? <SubmitOrCancel button="Save" cancel={list} /> : <Submit>Create tag</Submit>}
    </form>
  );
}
