import type { Writer } from '../audit/actor.ts';
import type { Act } from '../audit/acts.ts';
import { recordAct } from '../audit/record.ts';
import { notFound, Refusal } from '../errors.ts';
import { type Db, type Sql, violates } from '../lib/db/db.ts';
import { inTransaction } from '../lib/db/transaction.ts';
import {
  findNamedTags,
  insertMissingTags,
  insertTag,
  lockAndCountTags,
  type NewTag,
  removeTag,
  type TagRow,
  updateTag,
} from './queries.ts';

/** Of tags that are made without one. */
export const defaultTagColor = '#5b6b8c';

/** Screens and the API show all of them at once. Imports take over as many as there are. */
const mostTagsOfOrganization = 1000;

type TagWish = { name: string; color?: string | undefined };

export async function createTag(db: Db, writer: Writer, wish: TagWish): Promise<TagRow> {
  const tag: NewTag = { name: wish.name, color: wish.color ?? defaultTagColor };
  return await inTransaction(db, async (tx) => {
    if ((await lockAndCountTags(tx, writer.orgId)) >= mostTagsOfOrganization) throw tooManyTags();
    const made = await insertTag(tx, writer.orgId, tag).catch(refuse(tag.name));
    await recordTag(tx, writer, { act: 'tag.created', tag: made });
    return made;
  });
}

/**
 * The ids of tags by their names, in the caller's transaction; those that are missing are made. A spelling that differs
 * from an existing one only by case is that tag.
 */
export async function ensureTags(
  tx: Sql,
  writer: Writer,
  names: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const made = await insertMissingTags(tx, writer.orgId, { names, color: defaultTagColor });
  for (const tag of made) await recordTag(tx, writer, { act: 'tag.created', tag });
  const tags = await findNamedTags(tx, writer.orgId, names);
  return new Map(tags.map(({ id, name }) => [name, id]));
}

export type TagChange = { name?: string | undefined; color?: string | undefined };

/** Renames or recolors a tag; responses keep it. */
export async function changeTag(
  db: Db,
  writer: Writer,
  { id, name, color }: TagChange & { id: string },
): Promise<TagRow> {
  return await inTransaction(db, async (tx) => {
    const change = { name: name ?? null, color: color ?? null };
    const changed = await updateTag(tx, { orgId: writer.orgId, id }, change).catch(
      refuse(name ?? ''),
    );
    if (!changed) throw notFound('tag');
    const { differs, ...tag } = changed;
    if (differs) await recordTag(tx, writer, { act: 'tag.changed', tag });
    return tag;
  });
}

/** Deletes a tag, also from all responses that have it. */
export async function deleteTag(db: Db, writer: Writer, id: string): Promise<TagRow> {
  return await inTransaction(db, async (tx) => {
    const gone = await removeTag(tx, writer.orgId, id);
    if (!gone) throw notFound('tag');
    await recordTag(tx, writer, { act: 'tag.deleted', tag: gone });
    return gone;
  });
}

const tooManyTags = () =>
  new Refusal('invalid', `an organization has at most ${mostTagsOfOrganization} tags`, {
    code: 'too_many_tags',
  });

type TagAct = { act: Act; tag: TagRow };

const recordTag = (tx: Sql, writer: Writer, { act, tag: { id, name } }: TagAct) =>
  recordAct(tx, { ...writer, act, target: { kind: 'tag', id }, details: { name } });

const refuse =
  (name: string) =>
  (error: unknown): never => {
    if (!violates(error, 'tags_one_per_name')) throw error;
    throw new Refusal('conflict', `the organization has a tag named ${name} already`, {
      code: 'name_taken',
    });
  };
