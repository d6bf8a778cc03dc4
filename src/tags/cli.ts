import { commandWriter, type Writer } from '../audit/acts.ts';
import { type CommandTools, inDatabase } from '../command-tools.ts';
import { notFound } from '../errors.ts';
import {
  Color,
  type Command,
  columns,
  command,
  id,
  Name,
  option,
  optional,
  optionalId,
  UsageError,
} from '../lib/cli/command.ts';
import type { Db } from '../lib/db/db.ts';
import { getOrganization } from '../organizations/queries.ts';
import {
  changeTag,
  createTag,
  defaultTagColor,
  deleteTag,
  findOrganizationOfTag,
  listTags,
} from './tags.ts';

const create = command({
  name: 'tag create',
  does: 'makes a tag of an organization',
  options: {
    org: id('its organization'),
    name: option(Name, 'N', 'its name'),
    color: optional(Color, "'#RRGGBB'", `its color (${defaultTagColor})`),
  },
  run: (tools: CommandTools, { org, ...tag }) =>
    inDatabase(tools, async (db) => {
      const made = await createTag(db, commandWriter(org), tag);
      return { data: made, text: `made the tag ${made.name}: ${made.id}` };
    }),
});

const update = command({
  name: 'tag update',
  does: 'renames or recolors a tag; responses keep it',
  options: {
    id: id('which tag'),
    org: optionalId('only if this is its organization'),
    name: optional(Name, 'N', 'its new name'),
    color: optional(Color, "'#RRGGBB'", 'its new color'),
  },
  async run(tools: CommandTools, { org, ...change }) {
    if (change.name === undefined && change.color === undefined) {
      throw new UsageError('nothing to change was given', update.usage);
    }
    return await inDatabase(tools, async (db) => {
      const tag = await changeTag(db, await writerOf(db, { id: change.id, org }), change);
      return { data: tag, text: `changed the tag ${tag.name}: ${tag.id}` };
    });
  },
});

const remove = command({
  name: 'tag delete',
  does: 'deletes a tag, also from all responses that have it',
  options: { id: id('which tag'), org: optionalId('only if this is its organization') },
  run: (tools: CommandTools, given) =>
    inDatabase(tools, async (db) => {
      const tag = await deleteTag(db, await writerOf(db, given), given.id);
      return { data: tag, text: `deleted the tag ${tag.name}` };
    }),
});

const list = command({
  name: 'tag list',
  does: "lists an organization's tags by name",
  options: { org: id('the organization') },
  run: (tools: CommandTools, { org }) =>
    inDatabase(tools, async (db) => {
      await getOrganization(db, org);
      const tags = await listTags(db, org);
      const rows = tags.map(({ id, color, name }) => [id, color, name]);
      return { data: tags, text: columns([['id', 'color', 'name'], ...rows]) };
    }),
});

export const tagCommands: readonly Command<CommandTools>[] = [create, update, remove, list];

async function writerOf(db: Db, tag: { id: string; org?: string | undefined }): Promise<Writer> {
  const orgId = tag.org ?? (await findOrganizationOfTag(db, tag.id));
  if (orgId === undefined) throw notFound('tag');
  return commandWriter(orgId);
}
