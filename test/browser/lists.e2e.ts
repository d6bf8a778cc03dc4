import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commandWriter } from '../../src/audit/acts.ts';
import { createSegment } from '../../src/people/segments.ts';
import { desktop, launchBrowser, phone } from '../e2e/browser.ts';
import { makeSurvey } from '../support/make/rows.ts';
import { makeScene, signInBrowser } from './scene.ts';

const [scene, browser] = [await makeScene(), await launchBrowser()];
const { db, full } = scene;

async function open(javaScriptEnabled: boolean, tab: string) {
  const surveyId = await makeSurvey(db, full.id, { name: 'Customer loyalty' });
  const context = await browser.newContext({ ...desktop, javaScriptEnabled });
  await signInBrowser(context, scene, 'editor');
  const page = await context.newPage();
  await page.goto(`${scene.base}/o/${full.slug}/surveys/${surveyId}/${tab}`);
  return page;
}

const list = 'Mail;Private;Vorname\na@people.test;a@home.test;Ann\nb@people;b@home.test;Bob\n';

for (const script of [true, false]) {
  const how = script ? 'with' : 'without';

  test(`a list is reviewed again after a change, ${how} script`, async () => {
    const page = await open(script, 'contacts');
    await page.getByLabel('Or paste a list').fill(list);
    await page.getByRole('button', { name: 'Upload' }).click();
    const figure = page.locator('#review .figure');
    assert.match((await figure.textContent()) ?? '', /^1 contact will/);
    const header = page.getByLabel('First row is a header');
    await header.press('Space');
    if (!script) await page.getByRole('button', { name: 'Check again' }).click();
    await page.getByLabel('Column 3').waitFor();
    if (script) await page.locator('#header:focus').waitFor();
    await header.press('Space');
    if (!script) await page.getByRole('button', { name: 'Check again' }).click();
    await page.getByLabel('Mail', { exact: true }).selectOption('skip');
    await page.getByLabel('Private').selectOption('email');
    if (!script) await page.getByRole('button', { name: 'Check again' }).click();
    await figure.filter({ hasText: '2 contacts will be added' }).waitFor();
    await page.getByRole('button', { name: 'Import' }).click();
    await page.getByText('2 contacts added').waitFor();
  });

  test(`a segment is chosen, reviewed and sent to, ${how} script`, async () => {
    const filter = { all: [{ field: 'property.plan', op: 'exists' as const, value: true }] };
    const name = `On a plan, ${how} script`;
    await createSegment(db, commandWriter(full.id), { name, filter });
    const page = await open(script, 'send');
    await page.getByText('No contacts to send to yet').waitFor();
    await page.getByLabel('Send to').selectOption({ label: `Segment: ${name}` });
    await page.getByRole('button', { name: 'Show recipients' }).click();
    await page.getByText('in the audience are skipped').waitFor();
    await page.getByRole('button', { name: 'Send me a test' }).click();
    await page.getByText('in the audience are skipped').waitFor();
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await page.getByText(`Segment: ${name}`).waitFor();
    assert.match((await page.locator('.notice').first().textContent()) ?? '', /Campaign started/);
  });
}

test('Tab follows the order of the controls above a survey on a phone', async () => {
  const [answered] = await db`select survey_id from responses where org_id = ${full.id} limit 1`;
  const context = await browser.newContext(phone);
  await signInBrowser(context, scene, 'editor');
  const page = await context.newPage();
  await page.goto(`${scene.base}/o/${full.slug}/surveys/${answered!['survey_id']}`);
  const period = page.getByRole('navigation', { name: 'Period' }).getByRole('link');
  await period.first().focus();
  await page.keyboard.press('Shift+Tab');
  const before = await page
    .locator('.head > .acts > * :focus, .head > .acts > :focus')
    .boundingBox();
  assert.ok(before!.y < (await period.first().boundingBox())!.y);
});
