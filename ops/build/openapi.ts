import { readFileSync, writeFileSync } from 'node:fs';
import { apiDocument, errorTable } from '../../src/api.ts';
import { withoutReferences, withReferences } from '../../src/lib/openapi/references.ts';
import { breakingChanges } from './breaking-changes.ts';

/** Updates the released API document and the page of error codes. Refuses changes that would break clients. */
const file = 'ops/openapi.json';
const released = withoutReferences(JSON.parse(readFileSync(file, 'utf8')));
const now = apiDocument({ serviceName: 'Service', maxContacts: 1000 });
const changes = breakingChanges(released, now);

if (changes.length > 0) {
  process.stderr.write(`these changes would break clients:\n  ${changes.join('\n  ')}\n`);
  process.exit(1);
}
writeFileSync(file, `${JSON.stringify(withReferences(now), null, 2)}\n`);
writeFileSync('ops/errors.md', errorPage());
process.stdout.write(`${file} now describes ${Object.keys(now.paths).length} paths\n`);

function errorPage(): string {
  return `# Error codes of the API

\`\`\`json
{"error": "limit: must be a whole number from 1", "code": "invalid", "request_id": "0f5dbd0e-7c3f-4be4-9f7e-0a6f2b8a3c11"}
\`\`\`

Every error has this body. Show \`error\` to people, branch on \`code\`, and quote \`request_id\` to the operator. Later versions may add codes.

${errorTable}
`;
}
