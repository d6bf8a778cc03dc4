import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { apiDocument } from '../../src/api.ts';
import { spellKey } from '../../src/keys/rules.ts';
import { requestEnded } from '../../src/lib/http/http.ts';
import { testSettings } from '../support/make/settings.ts';
import { keptScreens } from '../support/walls/kept-screens.ts';
import { type KeptCall, keptCalls } from './calls.ts';
import { watchRows } from './changes.ts';
import { id, now, withoutLot } from './scene/names.ts';
import { full } from './scene/organizations.ts';
import { makeStillScene } from './scene/scene.ts';
import { shownAnswer } from './shown.ts';

const { db, app } = await makeStillScene();
const keys = { write: await makeKey('write'), read: await makeKey('read') };
const kept = keptScreens('answers');
const seen = new Set<string>();
requestEnded.subscribe(({ method, route }) => seen.add(`${method} ${route}`));
const changes = await watchRows(db);

for (const [group, calls] of Object.entries(keptCalls)) {
  test(`what the API answers of ${group}, and what that changes, is as it is kept`, async () => {
    const lines: string[] = [];
    for (const call of calls) {
      lines.push(...(await ask(call)), ...(call.method ? await changes() : []), '');
    }
    kept.compare(`${group}.txt`, lines);
  });
}

test('what every operation of the API answers is kept', () => {
  const described = Object.entries(apiDocument(testSettings).paths).flatMap(([path, methods]) =>
    Object.keys(methods).map(
      (method) => `${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ':$1')}`,
    ),
  );
  assert.ok(described.length > 50);
  assert.deepEqual(
    described.filter((route) => !seen.has(route)),
    [],
  );
});

test('every answer that is kept is one of the API', () => {
  assert.deepEqual(kept.left(), []);
});

async function ask({ method, path, body, as = 'write' }: KeptCall): Promise<string[]> {
  const asked = `${method ?? 'GET'} ${path}${as === 'write' ? '' : ` as ${as}`}`;
  const isMail = typeof body === 'string';
  const answer = await app.request(`https://askback.test${path}`, {
    method: method ?? 'GET',
    headers: {
      Accept: 'application/json',
      ...(as !== 'stranger' && { 'X-API-Key': keys[as] }),
      ...(body !== undefined && { 'Content-Type': isMail ? 'message/rfc822' : 'application/json' }),
    },
    ...(body !== undefined && { body: isMail ? body : JSON.stringify(body) }),
  });
  assert.ok(answer.status < 500, `${asked} answers ${answer.status}`);
  const { lines } = await shownAnswer(asked, answer);
  const said = body === undefined ? [] : [`with ${JSON.stringify(body)}`];
  const shown = lines.slice(1).filter((line) => !usual.test(line));
  return [lines[0]!, ...said, ...shown.map(withoutLot).flatMap(unfolded)];
}

/** What answers of the API say of themselves, and tests of their own look at. */
const usual = /^(ratelimit(-policy)?: |etag: |content-type: application\/json$|$)/;

/** A value in JSON with a line for each of its fields, and for each entry of its lists. */
function unfolded(line: string): string[] {
  if (!/^\{.*\}$/.test(line)) return [line];
  const fields = Object.entries(JSON.parse(line) as Record<string, unknown>);
  return fields.flatMap(([name, value]) =>
    Array.isArray(value)
      ? [`${name}:`, ...value.map((entry) => `  ${JSON.stringify(entry)}`)]
      : [`${name}: ${JSON.stringify(value)}`],
  );
}

async function makeKey(permission: 'read' | 'write'): Promise<string> {
  const random = createHash('sha256').update(permission).digest();
  const { key, publicId, secretHash } = spellKey(random.subarray(0, 8), random);
  await db`insert into api_keys ${db({
    ...{ id: id(`key-that-may-${permission}`), org_id: full.id, name: `may ${permission}` },
    ...{ permission, public_id: publicId, secret_hash: secretHash, last_used_at: now },
  })}`;
  return key;
}
