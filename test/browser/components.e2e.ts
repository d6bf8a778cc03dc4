import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { launchBrowser } from '../e2e/browser.ts';
import { checkKeyboard, checkLooks, openScreen } from './check.ts';
import { componentPages } from './components.tsx';
import { serveApp } from './scene.ts';

const base = await serveApp(componentPages);
const browser = await launchBrowser();
const context = await browser.newContext({ reducedMotion: 'reduce' });
const page = await context.newPage();
after(() => context.close());

for (const name of ['lists', 'forms', 'acts', 'alone']) {
  test(`${name} of the app are accessible in every width, light and dark, and by keyboard`, async () => {
    const { complaints } = await openScreen(page, `${base}/${name}`);
    await checkLooks(page, `components-${name}`);
    await checkKeyboard(page);
    assert.deepEqual(
      complaints.filter((text) => !text.includes('422')),
      [],
    );
  });
}

test('the first mistake of a form has the focus', async () => {
  await openScreen(page, `${base}/forms`);
  assert.equal(await page.locator(':focus').getAttribute('name'), 'name');
  const described = await page.locator(':focus').getAttribute('aria-describedby');
  assert.match(
    (await page.locator(`#${described?.split(' ')[0]}`).textContent()) ?? '',
    /at least 2/,
  );
});

test('a menu closes by Escape and by a press elsewhere, and gives the focus back', async () => {
  await openScreen(page, `${base}/acts`);
  await page.setViewportSize({ width: 1280, height: 900 });
  const menu = page.locator('details.menu', { hasText: 'More' });
  await menu.locator('summary').click();
  await page.keyboard.press('Tab');
  await page.keyboard.press('Escape');
  assert.equal(await menu.getAttribute('open'), null);
  assert.equal(await page.locator(':focus').textContent(), 'More');
  await menu.locator('summary').click();
  await page.locator('h1').click();
  assert.equal(await menu.getAttribute('open'), null);
});

test('times show in the zone of the reader, exact on hover', async () => {
  const zoned = await browser.newContext({ timezoneId: 'Asia/Tokyo' });
  const tokyo = await zoned.newPage();
  await tokyo.goto(`${base}/lists`);
  const time = tokyo.locator('time[datetime="2026-11-20T16:22:00.000Z"]');
  assert.equal(await time.textContent(), '21 Nov 2026, 01:22');
  assert.match((await time.getAttribute('title')) ?? '', /Saturday.*01:22:00/);
  await zoned.close();
});

test('Copy puts the secret on the clipboard, and is not there without script', async () => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await openScreen(page, `${base}/acts`);
  const button = page.getByRole('button', { name: 'Copy' });
  await button.click();
  await page.getByRole('button', { name: 'Copied' }).waitFor();
  assert.equal(await page.evaluate('navigator.clipboard.readText()'), 'ask_live_EXAMPLE');

  const plain = await browser.newContext({ javaScriptEnabled: false });
  const without = await plain.newPage();
  await without.goto(`${base}/acts`);
  assert.equal(await without.getByRole('button', { name: 'Copy' }).isVisible(), false);
  await plain.close();
});
