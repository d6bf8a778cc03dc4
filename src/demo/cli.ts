import { isSea } from 'node:sea';
import { databaseCommand } from '../command-tools.ts';
import { Refusal } from '../errors.ts';
import { flag } from '../lib/cli/command.ts';
import { isLoopbackHost } from '../lib/http/http-address.ts';
import { publicUrlOf } from '../open-database.ts';
import { listOrganizations } from '../organizations/queries.ts';
import { shareUrl } from '../surveys/lifecycle.ts';
import { demoOrganization, type FilledDemo, fillDemo } from './fill.ts';

/** A checkout has a script that runs the right version of Node. */
const program = isSea() ? 'askback' : 'ops/askback';

export const demoCommand = databaseCommand({
  name: 'demo',
  does: 'fills one organization with half a year of believable feedback, once, and shows its keys',
  options: { yes: flag('also where there are other organizations: it cannot be removed again') },
  async run(db, { yes }, { config }) {
    const organizations = await listOrganizations(db);
    if (organizations.length > 0 && !yes && !organizations.some(isDemo)) {
      throw new Refusal(
        'conflict',
        'this deployment has organizations of its own: askback demo --yes adds the demo to them',
      );
    }
    const address = await publicUrlOf(db, config);
    const filled = await fillDemo(db, new Date());
    if (!filled) return describeExisting(address);
    return describeDemo(filled, address ?? '$ADDRESS', config.smtpUrl === null);
  },
});

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
    : 'none: mails go out through ASKBACK_SMTP_URL, also the one below';
  const text = `The demo organization is filled with half a year of feedback.

  app            ${address}
  sign in        ${signIn ? `${signIn.email}  ${signIn.password}` : 'with the account that you have'}
  documentation  ${address}/docs
  a survey       ${share_url}
  mailbox        ${mailbox}
  read key       ${readKey}
  write key      ${writeKey}

Password and keys are not shown again. Paste one of these while askback serves; the last one sends a survey by mail:

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
  return isLocal ? `${address}/mailbox` : 'by the link that `askback serve` prints when it starts';
}

const describeExisting = (address: string | null) => ({
  data: { created: false, organization_id: demoOrganization, address },
  text: `The demo organization exists: ${demoOrganization}
Its password and keys were shown when it was made. For a link to a new password: \`${program} member reset --email demo@example.com\`;
for another key: \`${program} key create --org ${demoOrganization} --name N\`.`,
});
