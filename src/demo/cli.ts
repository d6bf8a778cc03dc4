import { type CommandTools, inDatabase } from '../command-tools.ts';
import { type Command, command } from '../lib/cli/command.ts';
import { publicUrlOf } from '../service-record.ts';
import { demoOrganization, fillDemo, type Submission } from './fill.ts';

const demo = command({
  name: 'demo',
  does: 'fills one organization with half a year of believable feedback, once, and shows its keys',
  options: {},
  run: (tools: CommandTools) =>
    inDatabase(tools, async (db, config) => {
      const address = await publicUrlOf(db, config);
      const filled = await fillDemo(db, new Date());
      return filled ? introduce(filled, address ?? '$ADDRESS') : remind(address);
    }),
});

export const demoCommands: readonly Command<CommandTools>[] = [demo];

function introduce({ readKey, writeKey, surveyId }: Submission, address: string) {
  const contact = JSON.stringify({ email: 'you@example.com', survey_id: surveyId });
  const curl = [
    `curl -H 'X-API-Key: ${readKey}' '${address}/api/v1/nps'`,
    `curl -H 'X-API-Key: ${readKey}' '${address}/api/v1/responses?category=detractor&limit=3'`,
    `curl -H 'X-API-Key: ${writeKey}' -H 'Content-Type: application/json' -d '${contact}' '${address}/api/v1/contacts'`,
  ];
  const text = `The demo organization is filled with half a year of feedback.

  address    ${address}
  read key   ${readKey}
  write key  ${writeKey}

The keys are not shown again. Paste one of these while askback serves:

${curl.join('\n')}
`;
  const keys = { read_key: readKey, write_key: writeKey };
  return {
    data: { created: true, organization_id: demoOrganization, address, ...keys, curl },
    text,
  };
}

const remind = (address: string | null) => ({
  data: { created: false, organization_id: demoOrganization, address },
  text: `The demo organization exists: ${demoOrganization}
Its keys were shown when it was made; \`askback key create --org ${demoOrganization} --name N\` makes another.`,
});
