import { commandWriter } from '../audit/acts.ts';
import { databaseCommand, orgOption } from '../command-tools.ts';
import { Color, Name, option, optional } from '../lib/cli/command.ts';
import { createTag, defaultTagColor } from './tags.ts';

export const createTagCommand = databaseCommand({
  name: 'tag create',
  does: 'creates a tag',
  options: {
    org: orgOption('the organization'),
    name: option(Name, 'N', 'the name'),
    color: optional(Color, "'#RRGGBB'", `the color (${defaultTagColor})`),
  },
  async run(db, { org, ...input }) {
    const tag = await createTag(db, commandWriter(org), input);
    return { data: tag, text: `created the tag ${tag.name}: ${tag.id}` };
  },
});
