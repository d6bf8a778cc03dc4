import { type Context, Hono } from 'hono';
import * as v from 'valibot';
import { notFound, Refusal } from '../errors.ts';
import { Color, Name } from '../lib/cli/options.ts';
import type { Db } from '../lib/db/db.ts';
import { isUuid } from '../lib/validation/parse.ts';
import { requireRole, type ScreenEnv } from '../sessions/session.ts';
import { Confirm } from '../web/app/acts.tsx';
import { flash } from '../web/app/flash.ts';
import { emptyForm, type FormState, readForm, withMistake } from '../web/app/read-form.ts';
import { Part, renderSettings, settingPath } from '../web/app/settings-screen.tsx';
import { changeTag, createTag, defaultTagColor, deleteTag } from './manage.ts';
import { listTags, type TagRow } from './queries.ts';
import { TagForm, TagList } from './tag-list.tsx';

type TagScreenTools = { db: Db };

const TagFields = v.object({ name: Name, color: v.optional(Color, defaultTagColor) });

/** Settings, Tags: below `/o/:slug/settings/tags`. Everybody sees them, editors change them. */
export const tagScreens = ({ db }: TagScreenTools) =>
  new Hono<ScreenEnv>()
    .get('/', (c) => showTags(c, db, emptyForm()))

    .post('/', async (c) => {
      const editor = requireRole(c, 'editor');
      const form = await readForm(c, TagFields);
      if (form.errors) return showTags(c, db, form);
      const made = await attempt(c, () => createTag(db, editor, form.values));
      if ('errors' in made) return showTags(c, db, made);
      return backToList(c, `The tag “${made.name}” is made.`);
    })

    .get('/:id', async (c) => {
      requireRole(c, 'editor');
      return showTag(c, await getTag(db, c), emptyForm());
    })

    .post('/:id', async (c) => {
      const editor = requireRole(c, 'editor');
      const tag = await getTag(db, c);
      const form = await readForm(c, TagFields);
      if (form.errors) return showTag(c, tag, form);
      const changed = await attempt(c, () => changeTag(db, editor, { id: tag.id, ...form.values }));
      if ('errors' in changed) return showTag(c, tag, changed);
      return backToList(c, `The tag “${changed.name}” is saved.`);
    })

    .get('/:id/delete', async (c) => {
      requireRole(c, 'editor');
      const { id, name } = await getTag(db, c);
      const list = settingPath(c.var.organization, 'tags');
      const title = `Delete the tag “${name}”`;
      const body = (
        <Part id="delete" title={title}>
          <Confirm action={`${list}/${id}/delete`} button="Delete" cancel={list}>
            <p>
              Every response that has it loses it, and filters by it find nothing any more. The
              responses themselves stay.
            </p>
          </Confirm>
        </Part>
      );
      return renderSettings(c, { setting: 'tags', title, body, trail: trail(c) });
    })

    .post('/:id/delete', async (c) => {
      const editor = requireRole(c, 'editor');
      const { name } = await deleteTag(db, editor, (await getTag(db, c)).id);
      return backToList(c, `The tag “${name}” is deleted.`);
    });

async function showTags(c: Context<ScreenEnv>, db: Db, form: FormState) {
  const { id, role } = c.var.organization;
  const tags = await listTags(db, id);
  const list = settingPath(c.var.organization, 'tags');
  const body = (
    <>
      <TagList tags={tags} list={list} mayChange={role !== 'viewer'} />
      {role === 'viewer' ? null : (
        <Part id="new" title="New tag">
          <TagForm form={form} action={list} button="Create tag" />
        </Part>
      )}
    </>
  );
  return renderSettings(c, { setting: 'tags', body, status: statusOf(form) });
}

function showTag(c: Context<ScreenEnv>, tag: TagRow, form: FormState) {
  const list = settingPath(c.var.organization, 'tags');
  const title = `Change the tag “${tag.name}”`;
  const body = (
    <Part id="change" title={title}>
      <TagForm form={form} action={`${list}/${tag.id}`} button="Save" tag={tag} cancel={list} />
    </Part>
  );
  const status = statusOf(form);
  return renderSettings(c, { setting: 'tags', title, body, trail: trail(c), status });
}

const trail = (c: Context<ScreenEnv>) => [
  { text: 'Tags', href: settingPath(c.var.organization, 'tags') },
];

function backToList(c: Context<ScreenEnv>, text: string) {
  flash(c, { kind: 'fine', text });
  return c.redirect(settingPath(c.var.organization, 'tags'), 303);
}

async function getTag(db: Db, c: Context<ScreenEnv>): Promise<TagRow> {
  const id = c.req.param('id') ?? '';
  const tags = isUuid(id) ? await listTags(db, c.var.organization.id) : [];
  const tag = tags.find((each) => each.id === id);
  if (!tag) throw notFound('tag');
  return tag;
}

const statusOf = ({ errors }: FormState) => (Object.keys(errors).length > 0 ? 422 : 200);

async function attempt<T>(c: Context, act: () => Promise<T>) {
  try {
    return await act();
  } catch (error) {
    const isTaken = error instanceof Refusal && error.code === 'name_taken';
    if (!isTaken) throw error;
    return await withMistake(c, { name: 'There is a tag of this name already.' });
  }
}
