import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMailbox } from '../../src/mailbox/mailbox.ts';
import { arrivedMail } from '../support/make/survey-mail.ts';
import { testApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';
import { desktop, keepScreenshot, launchBrowser, phone, violations } from './browser.ts';
import { serve } from './serve.ts';

const { db } = await testDatabase();
const base = await serve(testApp(db));
const browser = await launchBrowser();

async function keep(question_text: string) {
  const { raw } = await arrivedMail({ survey: { question_text } });
  await createMailbox(db).send({ from: 'hello@baker.example', to: 'ada@example.com' }, raw);
}
await keep('How satisfied are you with your delivery?');
await keep('How likely are you to recommend Baker & Sons to a friend?');

for (const [device, screen] of Object.entries({ phone, desktop })) {
  test(`the mailbox on a ${device} shows a list and an email, and is accessible`, async () => {
    const context = await browser.newContext({ ...screen, reducedMotion: 'reduce' });
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on('console', (message) => complaints.push(message.text()));

    await page.goto(`${base}/mailbox`);
    await keepScreenshot(page, `mailbox-${device}`);
    assert.deepEqual(await violations(page), []);

    await page.getByRole('link', { name: /recommend/ }).click();
    await page.frameLocator('iframe').getByRole('link', { name: '9', exact: true }).waitFor();
    await keepScreenshot(page, `mailbox-message-${device}`);
    assert.deepEqual(complaints, []);
    await context.close();
  });
}

test('a score in the framed email opens in a new tab', async () => {
  const page = await browser.newPage();
  await page.goto(`${base}/mailbox`);
  await page.getByRole('link', { name: /recommend/ }).click();
  const opened = page.waitForEvent('popup');
  await page.frameLocator('iframe').getByRole('link', { name: '9', exact: true }).click();
  assert.match((await opened).url(), /^https:\/\/ask\.example\/s\/tok_1\?score=9|chrome-error/);
  assert.match(page.url(), /\/mailbox\//);
});
