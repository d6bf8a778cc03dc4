import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Hono } from 'hono';
import { json } from '../../src/lib/db/db.ts';
import { serveApp } from '../browser/scene.ts';
import { makeOrganization, makeSurvey } from '../support/make/rows.ts';
import { bareApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';
import { keepScreenshot, launchBrowser, violations } from './browser.ts';
import { serve } from './serve.ts';

const { db } = await testDatabase();
const browser = await launchBrowser();
const base = await serveApp((publicUrl) => bareApp(db, { publicUrl }));

let line = '';
/** Another website with a strict policy: scripts and frames only from the service, and no inline styles. */
const website = await serve(
  new Hono().get('/', (c) =>
    c.html(
      `<!doctype html><html lang="en"><title>Shop</title><main><h1>Shop</h1><p>Prices</p>${line}</main></html>`,
      200,
      {
        'Content-Security-Policy': `default-src 'none'; script-src ${base}; frame-src ${base}; style-src 'self'`,
      },
    ),
  ),
);

async function embedded(over: Record<string, unknown> = {}, attributes = '') {
  const org_id = await makeOrganization(db, { name: 'Harbour & Pine', color: '#0f766e' });
  const share_id = crypto.randomUUID();
  const embed = json(db, { origins: [website] });
  const id = await makeSurvey(db, org_id, { share_id, embed, ...over });
  line = `<script async src="${base}/embed.js" data-survey="${share_id}" ${attributes}></script>`;
  const context = await browser.newContext();
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(String(error)));
  const given = async () =>
    await db`select score, source, properties from responses where survey_id = ${id}`;
  return { id, page, context, complaints, given, frame: page.frameLocator('iframe') };
}

const corner = `data-delay="0" data-every="30" data-properties='{"plan":"pro"}'`;

test('a corner survey is not shown again after a response', async () => {
  const { page, context, frame, complaints, given } = await embedded({}, corner);
  await page.goto(website);
  await page.locator('aside').waitFor({ state: 'visible' });
  await keepScreenshot(page, 'embed-corner');
  assert.deepEqual(complaints, []);
  // axe cannot tell whether a single-character cross is text.
  const found = (await violations(page)).filter((text) => !text.includes('too short to determine'));
  assert.deepEqual(found, []);
  complaints.length = 0; // axe causes its own messages in the frame
  assert.equal(await frame.getByRole('button', { name: 'Send answer' }).isVisible(), false);
  await frame.locator('#score-9').check({ force: true });
  await frame.getByRole('button', { name: 'Send answer' }).click();
  await frame.getByText('Thank you!').waitFor();
  await keepScreenshot(page, 'embed-corner-thanks');
  assert.deepEqual(
    [...(await given())],
    [{ score: 9, source: 'share', properties: { plan: 'pro' } }],
  );
  assert.deepEqual(await context.cookies(), []);
  assert.deepEqual(complaints, []);

  await page.reload();
  await page.waitForLoadState('networkidle');
  assert.equal(await page.locator('iframe').count(), 0);
});

test('the visitor can close the survey, by keyboard too', async () => {
  const { page } = await embedded({}, corner);
  await page.goto(website);
  const button = page.getByRole('button', { name: 'Close' });
  await button.waitFor({ state: 'visible' });
  await button.press('Enter');
  assert.equal(await page.locator('aside').count(), 0);
});

test('an inline survey fits its container and its content', async () => {
  const { page, frame, complaints } = await embedded({ type: 'csat' }, 'data-position="inline"');
  await page.goto(website);
  await page.locator('iframe:not([style*="height: 1px"])').waitFor();
  await keepScreenshot(page, 'embed-inline');
  const inside = await frame
    .locator('main')
    .evaluate((main) => main.getBoundingClientRect().height);
  const outside = await page.locator('iframe').evaluate((element) => element.clientHeight);
  assert.ok(outside >= inside && outside < inside + 200, `${outside} around ${inside}`);
  const [own, around] = await page
    .locator('iframe')
    .evaluate((element) => [element.offsetWidth, element.parentElement!.clientWidth]);
  assert.equal(own, around);
  assert.deepEqual(complaints, []);
});

test('nothing is shown on a website that the survey does not allow', async () => {
  const { page } = await embedded({ embed: json(db, { origins: ['https://other.test'] }) }, corner);
  const refused = page.waitForEvent('console', {
    predicate: (m) => m.text().includes('frame-ancestors'),
  });
  await page.goto(website);
  await refused;
  assert.equal(await page.locator('aside').isVisible(), false);
});

test('a closed survey is not shown', async () => {
  const closed = { status: 'completed', completed_by: 'hand' };
  const { page } = await embedded(closed, corner);
  const framed = page.waitForResponse((answer) => answer.url().includes('/e/'));
  await page.goto(website);
  await framed;
  await page.locator('aside').waitFor({ state: 'detached' });
});

test('the script is under 5 KB, is cached, and names no other host', async () => {
  const answer = await fetch(`${base}/embed.js`);
  const script = await answer.text();
  assert.ok(Buffer.byteLength(script) < 5 * 1024, `${Buffer.byteLength(script)} bytes`);
  assert.match(answer.headers.get('Cache-Control') ?? '', /max-age=3600/);
  assert.ok(!/https?:|cookie\s*=|import/.test(script));
  const again = { headers: { 'If-None-Match': answer.headers.get('ETag') ?? '' } };
  assert.equal((await fetch(`${base}/embed.js`, again)).status, 304);
});
