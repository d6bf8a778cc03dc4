import assert from 'node:assert/strict';
import { test } from 'node:test';
import { desktop, launchBrowser } from '../e2e/browser.ts';
import { makeScene, signInBrowser } from './scene.ts';

const [scene, browser] = [await makeScene(), await launchBrowser()];
const people = `${scene.base}/o/${scene.full.slug}/people`;

async function open(path: string, javaScriptEnabled: boolean) {
  const context = await browser.newContext({ ...desktop, javaScriptEnabled });
  await signInBrowser(context, scene, 'editor');
  const page = await context.newPage();
  await page.goto(`${people}${path}`);
  return page;
}

for (const script of [true, false]) {
  test(`a segment counts its people, ${script ? 'with' : 'without'} script`, async () => {
    const page = await open('/segments/new', script);
    await page.getByLabel('Name').fill(`Offices ${script}`);
    await page.getByLabel('Field').selectOption('team');
    if (!script) await page.getByRole('button', { name: 'Count people' }).click();
    await page.locator('datalist option[value=Office]').waitFor({ state: 'attached' });
    await page.getByLabel('Value').fill('Office');
    if (!script) await page.getByRole('button', { name: 'Count people' }).click();
    const count = page.getByRole('heading', { name: /^\d+ people match$/ });
    await count.waitFor();
    const counted = await count.textContent();
    await page.getByLabel('Value').press('Enter');
    await page.getByText(`Segment “Offices ${script}” saved.`).waitFor();
    assert.equal(await count.textContent(), counted);
    await page.getByRole('link', { name: 'Show in People' }).click();
    assert.equal(await page.locator('#people h2').textContent(), counted?.replace(' match', ''));
  });
}

test('a changed select of a segment sends one request', async () => {
  const page = await open('/segments/new', true);
  await page.getByLabel('Field').selectOption('team');
  await page.locator('datalist option[value=Office]').waitFor({ state: 'attached' });
  await page.getByLabel('Value').fill('Office');
  await page.getByRole('heading', { name: /^\d+ people match$/ }).waitFor();
  const requests: string[] = [];
  page.on('request', (request) => requests.push(request.url()));
  await page.getByLabel('Operator').selectOption('has no value');
  await page.getByLabel('Value').waitFor({ state: 'detached' });
  const says = page.locator('#says', { hasText: /match/ });
  await says.waitFor();
  // Typing triggers its request after 400 ms, so a delayed second request is sent before this one.
  await page.getByLabel('Name').fill('Elsewhere');
  await page.waitForRequest(/name=Elsewhere/);
  assert.equal(requests.length, 2);
  assert.equal(await says.textContent(), await page.locator('#count').textContent());
});

test('the list of people filters by a picked property', async () => {
  const page = await open('', true);
  await page.getByText('Filter', { exact: true }).click();
  await page.getByLabel('Property').selectOption('team=Office');
  await page.waitForURL(/team(=|%3D)Office/);
  await page.locator('#chips .filter').getByText('Office').waitFor();
  await page.locator('h1').click();
  await page.getByRole('link', { name: 'Save as segment' }).click();
  assert.equal(await page.getByLabel('Value').inputValue(), 'Office');
});
