import { type CommandTools, inDatabase } from '../command-tools.ts';
import { notFound, Refusal } from '../errors.ts';
import { type Command, columns, command } from '../lib/cli/command.ts';
import { Color, id, Name, option } from '../lib/cli/options.ts';
import { violates } from '../lib/db/constraint.ts';
import { insertTag, listTags } from './queries.ts';

const create = command({
  name: 'tag create',
  does: 'makes a tag of an organization',
  options: {
    org: id('whose tag it is'),
    name: option(Name, 'N', 'what it says'),
    color: option(Color, "'#RRGGBB'", 'how it looks'),
  },
  run: (tools: CommandTools, { org, ...wish }) =>
    inDatabase(tools, async (db) => {
      const tag = await insertTag(db, org, wish).catch((error: unknown) => {
        throw refused(error, wish.name) ?? error;
      });
      return { data: tag, text: `made the tag ${tag.name}: ${tag.id}` };
    }),
});

const list = command({
  name: 'tag list',
  does: "lists an organization's tags by name",
  options: { org: id('whose tags') },
  run: (tools: CommandTools, { org }) =>
    inDatabase(tools, async (db) => {
      const tags = await listTags(db, org);
      const rows = tags.map(({ id, color, name }) => [id, color, name]);
      return { data: tags, text: columns([['id', 'color', 'name'], ...rows]) };
    }),
});

export const tagCommands: readonly Command<CommandTools>[] = [create, list];

function refused(error: unknown, name: string): Refusal | undefined {
  if (violates(error, 'tags_belong_to_organization')) return notFound('organization');
  if (!violates(error, 'tags_one_per_name')) return undefined;
  return new Refusal('conflict', `the organization has a tag named ${name} already`);
}
