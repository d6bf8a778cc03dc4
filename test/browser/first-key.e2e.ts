import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { keepScreenshot, launchBrowser, violations } from '../e2e/browser.ts';
import { testDatabase } from '../support/probe/database.ts';
import { addressIn, askback, secretKey, startService } from '../support/processes/program.ts';

const { url } = await testDatabase();
const environment = { DATABASE_URL: url, ASKBACK_SECRET_KEY: secretKey, PORT: '0' };
const demo = await askback(['demo', '--json'], environment);
const { sign_in } = JSON.parse(demo.stdout) as { sign_in: { email: string; password: string } };
const service = startService(environment);
const address = addressIn(await service.ready());
const browser = await launchBrowser();

for (const javaScriptEnabled of [true, false]) {
  const how = javaScriptEnabled ? 'with script' : 'without script';

  test(`a reader of the demo signs in, makes a key and uses it, ${how}`, async () => {
    const context = await browser.newContext({ javaScriptEnabled, reducedMotion: 'reduce' });
    const page = await context.newPage();
    const name = `website ${how}`;
    await page.goto(address);
    await page.getByLabel('Email').fill(sign_in.email);
    await page.getByLabel('Password').fill(sign_in.password);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('link', { name: 'Settings', exact: true }).click();
    assert.equal(await page.locator('h1').innerText(), 'Settings');
    await page.getByRole('link', { name: 'API Keys', exact: true }).click();
    await page.getByRole('link', { name: 'New API Key', exact: true }).click();

    // The browser accepts a name of only spaces.
    await page.getByLabel('Name').fill('  ');
    await page.getByLabel(/^Read and write/).check();
    await page.getByRole('button', { name: 'Create key', exact: true }).click();
    await page.getByText('Must not be empty.').waitFor();
    assert.ok(await page.getByLabel(/^Read and write/).isChecked());
    await page.getByLabel('Name').fill(name);
    await page.getByRole('button', { name: 'Create key', exact: true }).click();

    const key = await page.getByLabel('Key', { exact: true }).inputValue();
    assert.match(key, /^ask_live_/);
    await keepScreenshot(page, `app-key-made-${javaScriptEnabled ? 'script' : 'plain'}`);
    // Without script, axe would wait forever for a timer in the page.
    if (javaScriptEnabled) await checkShownKey(page);
    const shown = await page.locator('pre').innerText();
    assert.deepEqual(await surveysBy(shown), [200, true]);

    await page.getByRole('link', { name: 'Done' }).click();
    assert.ok(!(await page.content()).includes(key), 'the key is shown once');
    await page.getByRole('link', { name: `Revoke ${name}` }).click();
    await page.getByRole('button', { name: 'Revoke', exact: true }).click();
    await page.getByText(`Key “${name}” revoked.`).waitFor();
    assert.equal((await surveysBy(shown))[0], 401);

    await page.getByRole('link', { name: 'Audit', exact: true }).click();
    await page
      .getByRole('rowheader', { name: /Revoked an API key/ })
      .first()
      .waitFor();
    await context.close();
  });
}

/** axe cannot tell whether a single letter, such as a monogram, is text. */
async function checkShownKey(page: Page) {
  const found = await violations(page);
  assert.deepEqual(
    found.filter((line) => !line.includes('content is too short')),
    [],
  );
}

/** Runs the command from the page, as a reader would paste it. */
async function surveysBy(line: string): Promise<[number, boolean]> {
  const words = [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain!);
  const args = [...words.slice(1), '-s', '-w', '\n%{http_code}'];
  const { stdout } = await promisify(execFile)('curl', args);
  const [body = '', status] = stdout.split('\n');
  const { data } = JSON.parse(body) as { data?: unknown[] };
  return [Number(status), (data ?? []).length > 0];
}

test('the service stops gracefully afterwards', async () => {
  await browser.close();
  assert.equal(await service.stop(), 0);
});
