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

/** Pages whose layout differs on wide screens. Other pages get only the basic checks there. */
const seenWide =
  /^(form-(nps|csat|ces|star5|thumbs|arabic)(-chosen)?|answered|unsubscribe|not-saved)$/;

const base = await serve(pages());
const browser = await launchBrowser();

for (const [device, screen] of Object.entries({ phone, desktop })) {
  const context = await browser.newContext({ ...screen, reducedMotion: 'reduce' });
  const page = await context.newPage();
  after(() => context.close());

  for (const name of Object.keys(gallery)) {
    const thorough = device === 'phone' || seenWide.test(name);
    const schemes = thorough ? (['light', 'dark'] as const) : (['light'] as const);

    test(`${name} on a ${device}, ${schemes.join(' and ')}: fits, logs nothing and is accessible`, async () => {
      await visit(page, `${base}/${name}`);
      for (const colorScheme of schemes) {
        await page.emulateMedia({ colorScheme });
        await keepScreenshot(page, `${name}-${device}-${colorScheme}`);
        // Content and its order do not depend on dark mode.
        const rules = colorScheme === 'dark' ? ['color-contrast'] : undefined;
        if (thorough) assert.deepEqual(await violations(page, rules), [], colorScheme);
      }
      assert.equal(await page.evaluate(widthTooMuch), 0, 'scrolls sideways');
      assert.deepEqual(await tooSmall(page), []);
    });
  }
}

/** Opens a page, which must be one request and cause no message of the browser. */
async function visit(page: Page, address: string) {
  const requests: string[] = [];
  const complaints: string[] = [];
  page.removeAllListeners();
  page.on('request', (request) => requests.push(request.url()));
  page.on('console', (message) => complaints.push(message.text()));
  await page.emulateMedia({ colorScheme: 'light' });
  await page.goto(address);
  assert.deepEqual(complaints, []);
  assert.deepEqual(
    requests.filter((url) => !url.startsWith('data:')),
    [address],
  );
}

/** Interactive elements smaller than a fingertip. A label is part of its control. */
const tooSmall = (page: Page) =>
  page.locator(pressable).evaluateAll((targets, smallest) => {
    const sizes = targets.map((target) => {
      const { width, height } = (target.closest('label') ?? target).getBoundingClientRect();
      return { what: target.outerHTML, width, height };
    });
    return sizes.filter(({ width, height }) => Math.min(width, height) < smallest);
  }, smallestTarget);

for (const [name, { html }] of Object.entries(gallery)) {
  if (name === 'form-too-long') continue; // echoes five pages of typed text
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
