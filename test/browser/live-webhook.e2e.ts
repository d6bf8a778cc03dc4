import assert from 'node:assert/strict';
import { test } from 'node:test';
import { desktop, launchBrowser } from '../e2e/browser.ts';
import { makeWebhook } from '../support/make/rows.ts';
import { makeScene, signInBrowser } from './scene.ts';

const [scene, browser] = [await makeScene(), await launchBrowser()];

test('an open webhook page shows when the webhook turns off', async () => {
  const { db, full, base } = scene;
  const webhook = await makeWebhook(db, full.id);
  const context = await browser.newContext(desktop);
  await signInBrowser(context, scene, 'editor');
  const page = await context.newPage();
  await page.goto(`${base}/o/${full.slug}/webhooks/${webhook}`);
  const state = page.locator('#state');
  assert.notEqual(await state.textContent(), 'Off');
  await db`
    update webhooks set active = false, deactivated_reason = 'three in a row'
    where id = ${webhook}`;
  await page.getByText('Turned off: three in a row.').waitFor();
  assert.equal(await state.textContent(), 'Off');
  await page.getByRole('button', { name: 'Turn on' }).click();
  await page.locator('#act-on[hidden]').waitFor({ state: 'attached' });
  await page.locator('.acts .menu summary').click();
  await page.getByRole('button', { name: 'Turn off' }).waitFor();
});
