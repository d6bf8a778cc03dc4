import * as v from 'valibot';
import { auditCommands } from './audit/cli.ts';
import type { CommandTools } from './command-tools.ts';
import { importContactsCommand } from './contacts/cli.ts';
import { demoCommand } from './demo/cli.ts';
import { importCommands } from './importers/cli.ts';
import { keyCommands } from './keys/cli.ts';
import { type Command, command } from './lib/cli/command.ts';
import { memberCommands } from './members/cli.ts';
import { archiveCommands } from './operations/archive.ts';
import { operationCommands } from './operations/cli.ts';
import { organizationCommands } from './organizations/cli.ts';
import { peopleCommands } from './people/cli.ts';
import { reporterCommands } from './reporters/cli.ts';
import { releaseCommand } from './responses/cli.ts';
import { sendCommands } from './sends/cli.ts';
import { serve } from './serve.ts';
import { role } from './settings-validators.ts';
import { summaryCommands } from './summaries/cli.ts';
import { surveyCommands } from './surveys/cli.ts';
import { createTagCommand } from './tags/cli.ts';
import { webhookCommands } from './webhooks/cli.ts';

const serveCommand: Command<CommandTools> = command({
  name: 'serve',
  does: 'runs the service until it is stopped (the default)',
  options: {
    role: {
      schema: v.optional(role),
      value: 'ROLE',
      does: 'web for requests only, jobs for background work only, both by default (also ASKBACK_ROLE)',
    },
  },
  run: (tools: CommandTools, options, { json }) => run(tools, options, json),
});

async function run(tools: CommandTools, options: Parameters<typeof serve>[1], json: boolean) {
  await serve(tools, options, ({ url, welcomeUrl }) => {
    const welcome = welcomeUrl ? { welcome_url: welcomeUrl } : {};
    const data = { listening: url, ...welcome };
    if (welcomeUrl && !json)
      tools.say(`no account exists yet: create the first one within 24 hours at ${welcomeUrl}`);
    tools.print(json ? JSON.stringify(data) : `askback listening on ${url}`);
  });
  return undefined;
}

/** The first is the default. */
const commands: readonly Command<CommandTools>[] = [
  serveCommand,
  ...operationCommands,
  ...organizationCommands,
  ...memberCommands,
  ...keyCommands,
  ...surveyCommands,
  createTagCommand,
  importContactsCommand,
  ...sendCommands,
  ...peopleCommands,
  releaseCommand,
  ...importCommands,
  ...webhookCommands,
  ...summaryCommands,
  ...auditCommands,
  ...reporterCommands,
  ...archiveCommands,
  demoCommand((tools) => run(tools, { isPublicDemo: true }, false)),
];

export const commandLine = {
  name: 'askback',
  about: 'askback: self-hosted survey feedback. Without a command it runs serve.',
  commands,
};
