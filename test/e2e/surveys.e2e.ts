import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeScene, signInBrowser } from '../browser/scene.ts';
import { keepScreenshot, launchBrowser } from './browser.ts';

const scene = await makeScene();
const browser = await launchBrowser();
const surveys = `${scene.base}/o/${scene.empty.slug}/surveys`;

async function formPage(javaScriptEnabled: boolean) {
  const context = await browser.newContext({ javaScriptEnabled, reducedMotion: 'reduce' });
  await signInBrowser(context, scene, 'editor');
  const page = await context.newPage();
  await page.goto(`${surveys}/new`);
  return { page, frame: page.frameLocator('iframe:not(.coming)') };
}

test('the preview follows what is typed, as a page and as a mail, in the dark', async () => {
  const { page, frame } = await formPage(true);
  await page.goto(surveys);
  await page.getByRole('link', { name: 'New survey' }).click();
  await frame.getByText('How likely are you to recommend us?').waitFor();
  await page.getByLabel('Question', { exact: true }).fill('Happy, {{first_name|you}}?');
  await frame.getByRole('heading', { name: 'Happy, Robin?' }).waitFor();
  await page.getByLabel('Of', { exact: true }).selectOption('mail');
  await frame.getByText('Hello Robin Reader,').waitFor();
  await page.getByLabel('Dark').check();
  await page.getByLabel('Desktop').check();
  await frame.locator('.card').waitFor();
  await page.getByRole('heading', { name: 'Preview' }).scrollIntoViewIfNeeded();
  await keepScreenshot(page, 'survey-preview-mail-dark');
});

test('without script the buttons show the preview, add a language and save', async () => {
  const { page, frame } = await formPage(false);
  await page.getByLabel('Name', { exact: true }).fill('Spring');
  await page.getByLabel('Question', { exact: true }).fill('Happy?');
  await page.getByLabel('From email').fill('ann@acme.test');
  await page.getByRole('button', { name: 'Preview' }).click();
  await frame.getByRole('heading', { name: 'Happy?' }).waitFor();
  await page.getByText('Languages', { exact: true }).click();
  await page.getByLabel('Another language').selectOption('de');
  await page.getByRole('button', { name: 'Add language' }).click();
  await page
    .getByRole('group', { name: 'German' })
    .getByLabel('Question', { exact: true })
    .fill('Zufrieden?');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('heading', { name: 'Spring', level: 1 }).waitFor();
  const [made] = await scene.db`select texts from surveys where org_id = ${scene.empty.id}`;
  assert.deepEqual(made!['texts'], { de: { question_text: 'Zufrieden?' } });
});

test('the preview leaves no entries in the history: Back leaves the form', async () => {
  const { page, frame } = await formPage(true);
  await page.goto(surveys);
  await page.getByRole('link', { name: 'New survey' }).click();
  await frame.getByText('How likely are you to recommend us?').waitFor();
  const before = await page.evaluate<number>('history.length');
  for (const word of ['One', 'Two', 'Three']) {
    await page.getByLabel('Question', { exact: true }).fill(`${word}?`);
    await frame.getByRole('heading', { name: `${word}?` }).waitFor();
  }
  assert.equal(await page.evaluate<number>('history.length'), before);
  await page.goBack();
  await page.getByRole('heading', { name: 'Surveys', level: 1 }).waitFor();
});
