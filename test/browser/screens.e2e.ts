import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { launchBrowser } from '../e2e/browser.ts';
import { checkKeyboard, checkLooks, checkWidth, openScreen } from './check.ts';
import { makeScene, signInBrowser } from './scene.ts';
import type { ScreenEntry } from './screen-entry.ts';
import { screenEntries } from './screens.ts';

const [scene, browser] = [await makeScene(), await launchBrowser()];
const pages = new Map<string, Promise<Page>>();

/** `SCREENS="home surveys" make e2e only=screens` picks screens by their names, `SCREENS=smoke` a dozen that matter most. */
const smoke =
  'home responses response survey survey-edit send campaign contacts webhook settings-general sign-in operator';
const words = (process.env['SCREENS'] ?? '').split(' ').filter((word) => word !== '');
const chosen = screenEntries.filter(
  ({ name }) =>
    words.length === 0 ||
    words.some((word) =>
      word === 'smoke' ? smoke.split(' ').includes(name) : name.includes(word),
    ),
);

test('every screen has a name of its own', () => {
  const names = screenEntries.map(({ name }) => name);
  assert.equal(new Set(names).size, names.length);
});

for (const entry of chosen) {
  test(`${entry.name}: light in weight, accessible in every width, light and dark, by keyboard, without script`, async () => {
    const { name, path, status = 200 } = entry;
    const address = `${scene.base}${typeof path === 'string' ? path : await path(scene)}`;
    const page = await pageFor(entry, true);
    const loaded = await openScreen(page, address);
    assert.equal(loaded.status, status);
    await checkLooks(page, name);
    await checkKeyboard(page);
    // The browser itself notes a status above 399.
    const own = loaded.complaints.filter(
      (text) => status < 400 || !text.includes('Failed to load'),
    );
    assert.deepEqual(own, []);

    const plain = await pageFor(entry, false);
    await plain.setViewportSize({ width: 360, height: 900 });
    assert.equal((await plain.goto(address))?.status(), status);
    assert.equal(await plain.locator('h1').count(), 1);
    await checkWidth(plain, `${name} without script`);
  });
}

/** One page for each reader, with script and without, used again for every screen. */
function pageFor({ as }: ScreenEntry, javaScriptEnabled: boolean): Promise<Page> {
  const key = `${as} ${javaScriptEnabled}`;
  const known = pages.get(key) ?? newPage(as, javaScriptEnabled);
  pages.set(key, known);
  return known;
}

async function newPage(as: ScreenEntry['as'], javaScriptEnabled: boolean): Promise<Page> {
  const context = await browser.newContext({ javaScriptEnabled, reducedMotion: 'reduce' });
  if (as) await signInBrowser(context, scene, as);
  return await context.newPage();
}
