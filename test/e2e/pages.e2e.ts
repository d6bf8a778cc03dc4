import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Hono } from 'hono';
import type { Page } from 'playwright-core';
import { desktop, keepScreenshot, launchBrowser, phone, violations } from './browser.ts';
import { gallery } from './gallery.ts';
import { serve } from './serve.ts';

const largestPage = 15_000;
const smallestTarget = 44;
const pressable = ':is(input[type=radio], textarea, button, a):not([inert] *)';
const widthTooMuch = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';

/** Where a wide screen shows more than a phone does, or in another place, by way of all. */
const seenWide =
  /^(form-(nps|csat|ces|star5|thumbs|arabic)(-chosen)?|answered|unsubscribe|not-saved)$/;

const base = await serve(pages());
const browser = await launchBrowser();

for (const [device, screen] of Object.entries({ phone, desktop })) {
  const context = await browser.newContext({ ...screen, reducedMotion: 'reduce' });
  after(() => context.close());

  for (const name of Object.keys(gallery)) {
    test(`${name} on a ${device}: whole, quiet and accessible, in light and dark`, async () => {
      const page = await context.newPage();
      await visit(page, `${base}/${name}`);
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        await keepScreenshot(page, `${name}-${device}-${colorScheme}`);
        if (device === 'desktop' && !seenWide.test(name)) continue;
        // What is said and in which order is the same in the dark.
        const rules = colorScheme === 'dark' ? ['color-contrast'] : undefined;
        assert.deepEqual(await violations(page, rules), [], colorScheme);
      }
      assert.equal(await page.evaluate(widthTooMuch), 0, 'scrolls sideways');
      assert.deepEqual(await tooSmall(page), []);
      await page.close();
    });
  }
}

/** The page is one request, and the browser has nothing to say, of its policy for example. */
async function visit(page: Page, address: string) {
  const requests: string[] = [];
  const complaints: string[] = [];
  page.on('request', (request) => requests.push(request.url()));
  page.on('console', (message) => complaints.push(message.text()));
  await page.goto(address);
  assert.deepEqual(complaints, []);
  assert.deepEqual(
    requests.filter((url) => !url.startsWith('data:')),
    [address],
  );
}

/** What can be pressed and is smaller than a finger. */
const tooSmall = (page: Page) =>
  page.locator(pressable).evaluateAll((targets, smallest) => {
    const sizes = targets.map((target) => {
      const { width, height } = target.getBoundingClientRect();
      return { what: target.outerHTML, width, height };
    });
    return sizes.filter(({ width, height }) => Math.min(width, height) < smallest);
  }, smallestTarget);

for (const [name, { html }] of Object.entries(gallery)) {
  if (name === 'form-too-long') continue; // carries the reader's own five pages of text
  test(`${name} is under 15 KB`, () => {
    assert.ok(Buffer.byteLength(html) < largestPage, `${Buffer.byteLength(html)} bytes`);
  });
}

function pages() {
  return new Hono().get('/:name', (c) => {
    const page = gallery[c.req.param('name')];
    return page ? c.html(page.html, 200, page.headers) : c.notFound();
  });
}
