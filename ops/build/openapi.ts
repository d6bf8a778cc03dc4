import { readFileSync, writeFileSync } from 'node:fs';
import { apiDocument } from '../../src/api.ts';
import { breakingChanges } from './breaking-changes.ts';

/** Accepts what the API has gained since its document was last released. What it lost is refused. */
const file = 'ops/openapi.json';
const now = apiDocument({ serviceName: 'Service', maxContacts: 1000 });
const changes = breakingChanges(JSON.parse(readFileSync(file, 'utf8')), now);

if (changes.length > 0) {
  process.stderr.write(`these changes would break clients:\n  ${changes.join('\n  ')}\n`);
  process.exit(1);
}
writeFileSync(file, `${JSON.stringify(now, null, 2)}\n`);
process.stdout.write(`${file} now describes ${Object.keys(now.paths).length} paths\n`);
