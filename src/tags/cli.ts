import { commandWriter } from '../audit/acts.ts';
import { databaseCommand, orgOption } from '../command-tools.ts';
import { Color, Name, option, optional } from '../lib/cli/command.ts';
import { createTag, defaultTagColor } from './tags.ts';

export const createTagCommand = databaseCommand({
  name: 'tag create',
  does: 'makes a tag of an organization',
  options: {
    org: orgOption('its organization'),
    name: option(Name, 'N', 'its name'),
    color: optional(Color, "'#RRGGBB'", `its color (${defaultTagColor})`),
  },
  async run(db, { org, ...input }) {
    const tag = await createTag(db, commandWriter(org), input);
    return { data: tag, text: `made the tag ${tag.name}: ${tag.id}` };
  },
});
