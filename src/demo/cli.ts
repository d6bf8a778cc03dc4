import { isSea } from 'node:sea';
import { type CommandTools, inDatabase } from '../command-tools.ts';
import { Refusal } from '../errors.ts';
import { command, flag } from '../lib/cli/command.ts';
import type { Db } from '../lib/db/db.ts';
import { isLoopbackHost } from '../lib/http/http-address.ts';
import { publicUrlOf } from '../open-database.ts';
import { listOrganizations } from '../organizations/queries.ts';
import { type Config, configuredSecrets } from '../settings.ts';
import { shareUrl } from '../surveys/lifecycle.ts';
import { demoOrganization, type FilledDemo, fillDemo } from './fill.ts';

/** A checkout has a script that runs the right version of Node. */
const program = isSea() ? 'askback' : 'ops/askback';

/** `servePublic` runs the service with settings that prevent any email. */
export const demoCommand = (servePublic: (tools: CommandTools) => Promise<void>) =>
  command({
    name: 'demo',
    does: 'loads a demo organization with a year of feedback and prints its keys',
    options: {
      yes: flag('add the demo even if there are other organizations'),
      public: flag('serve a read-only demo, reset at each start and every day'),
    },
    async run(tools: CommandTools, options) {
      if (!options.public)
        return await inDatabase(tools, (db, config) => load(db, config, options));
      await servePublic({
        ...tools,
        config: () => ({ ...tools.config(), smtpUrl: null, ai: null }),
      });
      return undefined;
    },
  });

async function load(db: Db, config: Config, { yes }: { yes: boolean }) {
  const organizations = await listOrganizations(db);
  if (organizations.length > 0 && !yes && !organizations.some(isDemo)) {
    throw new Refusal(
      'conflict',
      'this deployment has other organizations: askback demo --yes adds the demo anyway',
    );
  }
  const address = await publicUrlOf(db, config);
  const secrets = configuredSecrets(config, config.dataDir);
  const filled = await fillDemo({ db, secrets }, new Date());
  if (!filled) return describeExisting(address);
  return describeDemo(filled, address ?? '$ADDRESS', config.smtpUrl === null);
}

const isDemo = ({ id }: { id: string }) => id === demoOrganization;

function describeDemo(
  { readKey, writeKey, signIn, survey }: FilledDemo,
  address: string,
  hasMailbox: boolean,
) {
  const body = JSON.stringify({ contacts: [{ email: 'you@example.com', name: 'You' }] });
  const curl = [
    `curl -w '\\n' -H 'X-API-Key: ${readKey}' '${address}/api/v1/nps?type=nps'`,
    `curl -w '\\n' -H 'X-API-Key: ${readKey}' '${address}/api/v1/responses?category=detractor&limit=3'`,
    `curl -w '\\n' -H 'X-API-Key: ${writeKey}' -H 'Content-Type: application/json' -d '${body}' '${address}/api/v1/surveys/${survey.id}/send'`,
  ];
  const share_url = shareUrl(address, survey);
  const mailbox = hasMailbox
    ? mailboxAt(address)
    : 'none: emails go out through ASKBACK_SMTP_URL, including the one below';
  const text = `Loaded a demo organization: a coffee roaster with a year of feedback.

  app            ${address}
  sign in        ${signIn ? `${signIn.email}  ${signIn.password}` : 'with your existing account'}
  documentation  ${address}/docs
  a survey       ${share_url}
  mailbox        ${mailbox}
  read key       ${readKey}
  write key      ${writeKey}

The password and keys are not shown again. While askback serves, try one of these; the last one emails a survey:

${curl.join('\n')}
`;
  const data = {
    created: true,
    organization_id: demoOrganization,
    address,
    share_url,
    sign_in: signIn,
    read_key: readKey,
    write_key: writeKey,
    curl,
  };
  return { data, text };
}

/** If other machines can reach the service, the mailbox needs a link with a secret. */
function mailboxAt(address: string): string {
  const isLocal = !URL.canParse(address) || isLoopbackHost(new URL(address).hostname);
  return isLocal ? `${address}/mailbox` : 'use the link that `askback serve` prints at startup';
}

const describeExisting = (address: string | null) => ({
  data: { created: false, organization_id: demoOrganization, address },
  text: `The demo organization already exists: ${demoOrganization}
Its password and keys were only shown once. Reset the password: \`${program} member reset --email demo@example.com\`
Create another key: \`${program} key create --org ${demoOrganization} --name N\``,
});
