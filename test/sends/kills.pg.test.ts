import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { broken, killAt, startPost } from '../faults/kills.ts';
import type { Point } from '../faults/mail-points.ts';
import { testDatabase } from '../support/database.ts';

const { db, url: databaseUrl } = await testDatabase();
const post = await startPost();
after(() => post.close());

/** Where it dies, and of how many mails at most the outcome may then be unknown: those under way. */
const kills: [point: Point, unknownAtMost: number][] = [
  ['before the claim commits', 0],
  ['after the claim', 0],
  ['before DATA', 4],
  ['after the 250', 4],
  ['after the record', 0],
];

for (const [point, unknownAtMost] of kills) {
  test(`killed ${point}, each mail goes out at most once and none is lost in silence`, async () => {
    const ledger = await killAt({ db, databaseUrl, post }, point);
    assert.deepEqual(broken(ledger), []);
    const unknown = ledger.mails.filter(({ status }) => status === 'unknown');
    assert.ok(unknown.length <= unknownAtMost, `${unknown.length} are unknown`);
    if (unknownAtMost > 0) assert.ok(unknown.length > 0);
  });
}
