import type { CommandTools } from './command-tools.ts';
import { contactCommands } from './contacts/cli.ts';
import { demoCommands } from './demo/cli.ts';
import { keyCommands } from './keys/cli.ts';
import type { Command } from './lib/cli/command.ts';
import { archiveCommands } from './operations/archive.ts';
import { operationCommands } from './operations/cli.ts';
import { organizationCommands } from './organizations/cli.ts';
import { responseCommands } from './responses/cli.ts';
import { sendCommands } from './sends/cli.ts';
import { summaryCommands } from './summaries/cli.ts';
import { surveyCommands } from './surveys/cli.ts';
import { tagCommands } from './tags/cli.ts';
import { webhookCommands } from './webhooks/cli.ts';

const commands: readonly Command<CommandTools>[] = [
  ...operationCommands,
  ...organizationCommands,
  ...keyCommands,
  ...surveyCommands,
  ...tagCommands,
  ...contactCommands,
  ...sendCommands,
  ...responseCommands,
  ...webhookCommands,
  ...summaryCommands,
  ...archiveCommands,
  ...demoCommands,
];

/** The table of contents of the command line. */
export const commandLine = {
  name: 'askback',
  about: 'askback: self-hosted survey feedback. Without a command it serves.',
  commands,
};
