import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Hono } from 'hono';
import { desktop, keepScreenshot, launchBrowser, phone, violations } from './browser.ts';
import { gallery } from './gallery.ts';
import { serve } from './serve.ts';

const largestPage = 15_000;
const smallestTarget = 44;
const pressable = ':is(input[type=radio], textarea, button, a):not([inert] *)';
const widthTooMuch = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';

const base = await serve(pages());
const browser = await launchBrowser();

for (const [device, screen] of Object.entries({ phone, desktop })) {
  for (const colorScheme of ['light', 'dark'] as const) {
    const context = await browser.newContext({ ...screen, colorScheme, reducedMotion: 'reduce' });
    after(() => context.close());

    for (const name of Object.keys(gallery)) {
      test(`${name} on a ${device}, ${colorScheme}: whole, quiet and accessible`, async () => {
        const page = await context.newPage();
        const requests: string[] = [];
        const complaints: string[] = [];
        page.on('request', (request) => requests.push(request.url()));
        page.on('console', (message) => complaints.push(message.text()));

        await page.goto(`${base}/${name}`);

        await keepScreenshot(page, `${name}-${device}-${colorScheme}`);
        assert.deepEqual(complaints, [], 'the browser complains, of its policy say');
        assert.deepEqual(
          requests.filter((url) => !url.startsWith('data:')),
          [`${base}/${name}`],
        );
        assert.deepEqual(await violations(page), []);
        assert.equal(await page.evaluate(widthTooMuch), 0, 'scrolls sideways');
        for (const target of await page.locator(pressable).all()) {
          const { width, height } = (await target.boundingBox())!;
          const what = await target.getAttribute('id');
          assert.ok(Math.min(width, height) >= smallestTarget, `${what}: ${width} x ${height}`);
        }
        await page.close();
      });
    }
  }
}

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
