import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requestEnded } from '../../src/lib/http/http.ts';
import { stopToken } from '../../src/notifications/stop-link.ts';
import { keptScreens } from '../support/walls/kept-screens.ts';
import { keptEntries } from './entries.ts';
import type { KeptEntry } from './entry.ts';
import { keptFrames } from './frames.ts';
import { id } from './scene/names.ts';
import { cookieOf, full, type Reader } from './scene/organizations.ts';
import { makeStillScene } from './scene/scene.ts';
import { shownAnswer } from './shown.ts';

const { app, singleSignOn, secrets } = await makeStillScene();
const kept = keptScreens('app');
const frames = keptFrames(kept);
const seen = new Set<string>();
requestEnded.subscribe(({ method, route }) => seen.add(`${method} ${route}`));

for (const [folder, entries] of Object.entries(keptEntries)) {
  for (const entry of entries) {
    const { name, as = ['owner'] } = entry;
    for (const reader of as) {
      const file = as.length === 1 ? name : nameFor(name, reader);
      test(`${folder}/${file} is as it is kept`, async () => {
        kept.compare(`${folder}/${file}.txt`, await ask(entry, reader));
      });
    }
  }
}

function nameFor(name: string, reader: Reader | null) {
  return `${name}-as-${(reader ?? 'visitor').replaceAll(' ', '-')}`;
}

async function ask({ path, sso = false }: KeptEntry, reader: Reader | null) {
  const headers = { Accept: 'text/html', ...(reader && cookieOf(reader)) };
  const asked = sso ? singleSignOn : app;
  const answer = await asked.request(`https://askback.test${path}`, { headers });
  assert.ok(answer.status < 500, `${path} answers ${answer.status}`);
  const { lines, frame } = await shownAnswer(`GET ${path} as ${reader ?? 'visitor'}`, answer);
  return frame ? [`frame ${frames.nameOf(frame, reader)}`, ...lines] : lines;
}

test('the page that stops notifications is as it is kept', async () => {
  for (const kind of ['detractor', 'digest'] as const) {
    const token = stopToken(secrets, { orgId: full.id, memberId: id('member-owner'), kind });
    const path = `/notifications/stop/${token}`;
    const lines: string[] = [];
    for (const method of ['GET', 'POST']) {
      const shown = await shownAnswer('the page', await app.request(path, { method }));
      lines.push(...shown.lines.map((line) => line.replace(token, 'TOKEN')));
    }
    kept.compare(`coming-in/stop-${kind}.txt`, lines);
  }
});

test('the frames of the pages are as they are kept', () => {
  frames.compare();
});

test('every page of the app is kept', () => {
  const missing = app.routes
    .filter(({ method }) => method === 'GET')
    .map(({ path }) => `GET ${path}`)
    .filter((route) => isScreen.test(route) && !seen.has(route));
  assert.deepEqual([...new Set(missing)], []);
});

const isScreen =
  /^GET (\/forgot|\/(o|sign-in|reset|invitations|welcome|account|operator|notifications))(\/|$)/;

test('every page that is kept is one of the app', () => {
  assert.deepEqual(kept.left(), []);
});
