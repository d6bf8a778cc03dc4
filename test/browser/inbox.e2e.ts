import assert from 'node:assert/strict';
import { test } from 'node:test';
import { desktop, launchBrowser } from '../e2e/browser.ts';
import { makeScene, signInBrowser } from './scene.ts';

const [scene, browser] = [await makeScene(), await launchBrowser()];
const inbox = `${scene.base}/o/${scene.full.slug}/responses`;

async function open(javaScriptEnabled: boolean) {
  const context = await browser.newContext({ ...desktop, javaScriptEnabled });
  await signInBrowser(context, scene, 'editor');
  const page = await context.newPage();
  await page.goto(inbox);
  return page;
}

const countOf = (text: string | null) =>
  Number(/^([\d,]+) response/.exec(text ?? '')?.[1]?.replace(',', ''));

test('the inbox searches while typing and updates address and export', async () => {
  const page = await open(true);
  const heading = page.locator('#found h2');
  const all = countOf(await heading.textContent());
  await page.getByLabel('Search').pressSequentially('delivery');
  await page.waitForURL(/search=delivery/);
  assert.equal(new URL(page.url()).search, '?search=delivery');
  await heading.filter({ hasNotText: `${all} responses` }).waitFor();
  const found = countOf(await heading.textContent());
  assert.ok(found > 0 && found < all, `${found} of ${all}`);
  assert.equal(await page.locator(':focus').getAttribute('name'), 'search');
  const file = await page.locator('a[href*="/export"]').first().getAttribute('href');
  assert.match(file ?? '', /search=delivery/);
});

for (const script of [true, false]) {
  test(`selected responses get a tag, ${script ? 'with' : 'without'} script`, async () => {
    const page = await open(script);
    await page.getByText('Filter', { exact: true }).click();
    await page.getByLabel('Category').selectOption('detractor');
    if (!script) await page.getByRole('button', { name: 'Apply' }).click();
    await page.waitForURL(/category=detractor/);
    await page.locator('.filter').first().waitFor();
    await page.locator('h1').click();
    await page
      .getByLabel(/^Select the response/)
      .nth(0)
      .check();
    await page
      .getByLabel(/^Select the response/)
      .nth(1)
      .check();
    await page.getByLabel('Tag selected').selectOption({ index: 0 });
    await page.getByRole('button', { name: 'Add tag (selected)' }).click();
    await page.getByText('Tag added to 2 responses.').first().waitFor();
    assert.match(page.url(), /category=detractor/);
  });
}

test('one checkbox selects all responses of a page to mark as done', async () => {
  const page = await open(true);
  await page.goto(`${inbox}?category=detractor&state=open`);
  const before = countOf(await page.locator('#found h2').textContent());
  const shown = await page.getByLabel(/^Select the response/).count();
  await page.getByLabel(`Select all ${shown}`).check();
  await page.getByRole('button', { name: 'Mark as done (selected)' }).click();
  await page.getByText(`${shown} responses marked as done.`).first().waitFor();
  assert.equal(countOf(await page.locator('#found h2').textContent()), before - shown);

  const plain = await open(false);
  assert.equal(await plain.getByText(/^Select all/).isVisible(), false);
});
