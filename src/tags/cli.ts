import { type CommandTools, inDatabase } from '../command-tools.ts';
import { notFound, Refusal } from '../errors.ts';
import { type Command, columns, command } from '../lib/cli/command.ts';
import { Color, id, Name, option } from '../lib/cli/options.ts';
import { violates } from '../lib/db/db.ts';
import { insertTag, listTags } from './queries.ts';

const create = command({
  name: 'tag create',
  does: 'makes a tag of an organization',
  options: {
    org: id('its organization'),
    name: option(Name, 'N', 'its name'),
    color: option(Color, "'#RRGGBB'", 'its color'),
  },
  run: (tools: CommandTools, { org, ...tag }) =>
    inDatabase(tools, async (db) => {
      const made = await insertTag(db, org, tag).catch((error: unknown) => {
        throw refused(error, tag.name) ?? error;
      });
      return { data: made, text: `made the tag ${made.name}: ${made.id}` };
    }),
});

const list = command({
  name: 'tag list',
  does: "lists an organization's tags by name",
  options: { org: id('the organization') },
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
