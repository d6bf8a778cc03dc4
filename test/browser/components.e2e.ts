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

const troubles = [400, 403, 404, 409, 410, 413, 422, 429, 500, 503];

for (const name of [
  'lists',
  'forms',
  'acts',
  'live',
  'alone',
  ...troubles.map((status) => `trouble/${status}`),
]) {
  test(`${name} of the app are accessible at every width and by keyboard`, async () => {
    const { complaints } = await openScreen(page, `${base}/${name}`);
    await checkLooks(page, `components-${name.replace('/', '-')}`);
    await checkKeyboard(page);
    assert.deepEqual(
      complaints.filter((text) => !text.includes('Failed to load resource')),
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

test('a list filters while typing and keeps the focus', async () => {
  const { complaints } = await openScreen(page, `${base}/live`);
  const field = page.getByLabel('Search');
  await field.click();
  await page.keyboard.type('pri');
  await page.locator('#says', { hasText: '1 person' }).waitFor({ state: 'attached' });
  assert.deepEqual(await page.locator('#found li').count(), 1);
  assert.equal(await page.locator('#found time').textContent(), '20 Nov 2026, 16:22');
  assert.match(page.url(), /\/live\?kind=all&search=pri$/);
  assert.equal(await page.locator(':focus').getAttribute('name'), 'search');
  assert.deepEqual(complaints, []);
});

test('a list keeps its rows when an update fails', async () => {
  await openScreen(page, `${base}/live`);
  await page.getByLabel('Search').fill('down');
  await page.locator('#says', { hasText: 'could not be updated' }).waitFor({ state: 'attached' });
  assert.equal(await page.locator('#found li').count(), 4);

  await context.addCookies([{ name: 'signed_out', value: 'yes', url: base }]);
  await page.getByLabel('Search').fill('an');
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await context.clearCookies();
});

test('the filter works without script too', async () => {
  const plain = await browser.newContext({ javaScriptEnabled: false });
  const without = await plain.newPage();
  await without.goto(`${base}/live`);
  await without.getByLabel('Search').fill('pri');
  await without.getByRole('button', { name: 'Apply' }).click();
  assert.deepEqual(await without.locator('#found li').count(), 1);
  await plain.close();
});

test('a menu closes on Escape and outside clicks and returns the focus', async () => {
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

test("times are in the reader's zone, exact on hover", async () => {
  const zoned = await browser.newContext({ timezoneId: 'Asia/Tokyo' });
  const tokyo = await zoned.newPage();
  await tokyo.goto(`${base}/lists`);
  const time = tokyo.locator('time[datetime="2026-11-20T16:22:00.000Z"]');
  assert.equal(await time.textContent(), '21 Nov 2026, 01:22');
  assert.match((await time.getAttribute('title')) ?? '', /Saturday.*01:22:00/);
  await zoned.close();
});

test('Copy writes the secret to the clipboard, and needs script', async () => {
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
