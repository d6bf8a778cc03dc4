import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeOrganization } from '../support/make/rows.ts';
import { signIn, slugOfOrganization } from '../support/make/session.ts';
import { bareApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';
import { leastCost, readerOfThisThread } from '../support/probe/processor-time.ts';

/** No request may cost the thread that serves everybody more than this. */
const mostMs = 25;
const largest = 1024 * 1024;

const { db } = await testDatabase();
const app = bareApp(db);
const org = await makeOrganization(db);
const slug = await slugOfOrganization(db, org);
const owner = await signIn(db, { org, role: 'owner', operator: true });

/** Every place that takes a body without the key of an organization. */
const places = [
  ...new Set(
    app.routes
      .filter(({ method, path }) => method === 'POST' && !path.startsWith('/api/'))
      .map(({ path }) => path.replace(':slug', slug).replace(/:[^/]+/g, 'none'))
      .filter((path) => path !== '/sign-out'),
  ),
];

const times = (piece: string) => piece.repeat(largest / piece.length);
const numbered = (piece: (at: number) => string, most: number) =>
  Array.from({ length: most }, (_, at) => piece(at));
const json = { 'Content-Type': 'application/json' };
const form = { 'Content-Type': 'application/x-www-form-urlencoded' };
const parts = { 'Content-Type': 'multipart/form-data; boundary=b' };
const part = '--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n';

const bodies: [why: string, headers: Record<string, string>, body: string][] = [
  ['JSON keys', json, `{${numbered((at) => `"k${at}":1`, 85_000).join(',')}}`],
  ['fields of many names', form, numbered((at) => `a${at}=1`, 110_000).join('&')],
  ['long fields', form, numbered((at) => `a${at}=${'%0A'.repeat(340)}`, 999).join('&')],
  ['parts', parts, `${`${part}1\r\n`.repeat(18_000)}--b--\r\n`],
  ['a part of line ends', parts, `${part}${times('\r\n-').slice(0, -100)}\r\n--b--\r\n`],
];

const costOf = (path: string, init: RequestInit) =>
  leastCost(mostMs, async () => {
    const timer = readerOfThisThread();
    await (await app.request(path, { method: 'POST', ...init })).arrayBuffer();
    return timer.ms();
  });

for (const [reader, cookie] of [
  ['visitor', {}],
  ['member', owner],
] as const) {
  for (const [why, headers, body] of bodies) {
    test(`1 MiB of ${why} that a ${reader} posts costs the serving thread little, wherever it goes`, async () => {
      assert.ok(places.length > 60);
      const dear: string[] = [];
      for (const place of places) {
        const ms = await costOf(place, { headers: { ...headers, ...cookie }, body });
        if (ms >= mostMs) dear.push(`${place} ${ms.toFixed(1)} ms`);
      }
      assert.deepEqual(dear, []);
    });
  }
}
