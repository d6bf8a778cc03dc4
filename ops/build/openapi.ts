import { readFileSync, writeFileSync } from 'node:fs';
import { apiDocument, errorTable } from '../../src/api.ts';
import { withoutReferences, withReferences } from '../../src/lib/openapi/references.ts';
import { breakingChanges } from './breaking-changes.ts';

/**
 * Accepts what the API has gained since its document was last released, and writes the page of error codes. What the
 * document lost is refused.
 */
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

The body of every error is \`{"error", "code", "request_id"}\`. Show \`error\` to people and branch on \`code\`. Later versions may add codes.

${errorTable}
`;
}
