import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeScene, signInBrowser } from '../browser/scene.ts';
import { makeContact, makeSurvey } from '../support/make/rows.ts';
import { keepScreenshot, launchBrowser } from './browser.ts';

const scene = await makeScene();
const browser = await launchBrowser();
const surveys = `${scene.base}/o/${scene.empty.slug}/surveys`;

async function formPage(javaScriptEnabled: boolean) {
  const context = await browser.newContext({ javaScriptEnabled, reducedMotion: 'reduce' });
  await signInBrowser(context, scene, 'editor');
  const page = await context.newPage();
  await page.goto(`${surveys}/new?template=blank`);
  return { page, frame: page.frameLocator('iframe:not(.coming)') };
}

test('the preview updates while typing, as page and email, in dark mode', async () => {
  const { page, frame } = await formPage(true);
  await page.goto(surveys);
  await page.getByRole('link', { name: 'New survey' }).click();
  await page.getByRole('link', { name: 'Blank' }).click();
  await frame.getByText('How likely are you to recommend us?').waitFor();
  await page.getByLabel('Question', { exact: true }).fill('Happy, {{first_name|you}}?');
  await frame.getByRole('heading', { name: 'Happy, Robin?' }).waitFor();
  await page.getByRole('radio', { name: 'Email' }).check();
  await frame.getByText('Hello Robin Reader,').waitFor();
  await page.getByLabel('Dark').check();
  await page.getByLabel('Desktop').check();
  await frame.locator('.card').waitFor();
  await page.getByRole('heading', { name: 'Preview' }).scrollIntoViewIfNeeded();
  await keepScreenshot(page, 'survey-preview-mail-dark');
});

test('the preview is beside the form from 900 px, with and without script', async () => {
  for (const [script, width] of [
    [true, 1280],
    [false, 900],
  ] as const) {
    const { page } = await formPage(script);
    await page.setViewportSize({ width, height: 900 });
    const boxOf = async (selector: string) => (await page.locator(selector).boundingBox())!;
    const [form, frame] = [
      await boxOf('form > .stack'),
      await boxOf('.preview iframe:not(.coming)'),
    ];
    assert.ok(frame.x >= form.x + form.width, `${frame.x} is not right of ${form.x + form.width}`);
    assert.ok(frame.y < 600, `the frame begins at ${frame.y}`);
    await page.goto(`${surveys}/new?template=nps`);
    await page.getByText('Website embed', { exact: true }).scrollIntoViewIfNeeded();
    const { y } = await boxOf('.preview');
    assert.ok(y >= 0 && y < 100, `the preview does not stay in view: ${y}`);
  }
});

test('a phone has the preview below the form, with a link to it', async () => {
  const { page } = await formPage(false);
  await page.setViewportSize({ width: 360, height: 740 });
  await page.getByRole('link', { name: 'Preview', exact: true }).click();
  const heading = page.getByRole('heading', { name: 'Preview' });
  const { y } = (await heading.boundingBox())!;
  assert.ok(y >= 0 && y < 200, `the preview begins at ${y}`);
  await page.getByRole('link', { name: 'Back to the form' }).click();
  assert.ok((await heading.boundingBox())!.y > 740);
});

test('the send preview shows the email of the first recipient', async () => {
  const { db, empty, base } = scene;
  const survey_id = await makeSurvey(db, empty.id);
  await makeContact(db, { org_id: empty.id, survey_id }, { name: 'Ada Lovelace' });
  const { page } = await formPage(true);
  await page.goto(`${base}/o/${empty.slug}/surveys/${survey_id}/send`);
  await page.frameLocator('iframe').getByText('Hello Ada Lovelace,').waitFor({ timeout: 5000 });
});

test('the survey form works without script', async () => {
  const { page, frame } = await formPage(false);
  await page.getByLabel('Name', { exact: true }).fill('Spring');
  await page.getByLabel('Question', { exact: true }).fill('Happy?');
  await page.getByLabel('From email').fill('ann@acme.test');
  await page.getByRole('button', { name: 'Preview' }).click();
  await frame.getByRole('heading', { name: 'Happy?' }).waitFor();
  await page.getByText('Languages', { exact: true }).click();
  await page.getByLabel('Language to add').selectOption('de');
  await page.getByRole('button', { name: 'Add language' }).click();
  await page
    .getByRole('group', { name: 'German' })
    .getByLabel('Question', { exact: true })
    .fill('Zufrieden?');
  await page.getByRole('button', { name: 'Save' }).last().click();
  await page.getByRole('heading', { name: 'Spring', level: 1 }).waitFor();
  const [made] = await scene.db`select texts from surveys where org_id = ${scene.empty.id}`;
  assert.deepEqual(made!['texts'], { de: { question_text: 'Zufrieden?' } });
});

test('the preview adds no history entries', async () => {
  const { page, frame } = await formPage(true);
  await page.goto(surveys);
  await page.getByRole('link', { name: 'New survey' }).click();
  await page.getByRole('link', { name: 'Blank' }).click();
  await frame.getByText('How likely are you to recommend us?').waitFor();
  const before = await page.evaluate<number>('history.length');
  for (const word of ['One', 'Two', 'Three']) {
    await page.getByLabel('Question', { exact: true }).fill(`${word}?`);
    await frame.getByRole('heading', { name: `${word}?` }).waitFor();
  }
  assert.equal(await page.evaluate<number>('history.length'), before);
  await page.goBack();
  await page.getByRole('link', { name: 'Blank' }).waitFor();
});
