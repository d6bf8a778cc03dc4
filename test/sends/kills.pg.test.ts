import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { broken, killAt, prepareKills } from '../faults/kills.ts';
import { causes, type Point } from '../faults/mail-points.ts';
import { testDatabase } from '../support/probe/database.ts';

const { url } = await testDatabase();
const ground = await prepareKills(url);
after(() => ground.close());

const people = 8;

/**
 * Points of the kill with the maximum of mails whose outcome may be unknown: up to four in flight, and mails with a
 * reply that was not recorded yet.
 */
const kills: [point: Point, unknownAtMost: number][] = [
  ['before the claim commits', 0],
  ['after the claim', 0],
  ['before DATA', 4],
  ['after the 250', 4],
  ['after the record', people - 1],
];

const all = causes.flatMap((cause) => kills.map((kill) => [cause, ...kill] as const));

for (const [cause, point, unknownAtMost] of all) {
  test(`a process killed ${point} of a ${cause} repeats no mail`, async () => {
    const ledger = await killAt(ground, { point, nth: 1, people, cause });
    assert.deepEqual(broken(ledger), []);
    const unknown = ledger.mails.filter(({ status }) => status === 'unknown');
    assert.ok(unknown.length <= unknownAtMost, `${unknown.length} are unknown`);
    if (unknownAtMost === 4) assert.ok(unknown.length > 0);
  });
}
