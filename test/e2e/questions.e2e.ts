import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { mergeQuestions, type Question } from '../../src/questions/definition.ts';
import { makeContact, makeOrganization, makeSurvey } from '../support/make/rows.ts';
import { testApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';
import { until } from '../support/probe/until.ts';
import { desktop, launchBrowser, phone } from './browser.ts';
import { serve } from './serve.ts';

const { db } = await testDatabase();
const base = await serve(testApp(db));
const browser = await launchBrowser();
const organization = await makeOrganization(db, { name: 'Harbour & Pine', color: '#0f766e' });
const questions = mergeQuestions(
  [],
  [
    {
      kind: 'choices',
      text: 'What went wrong?',
      categories: ['detractor'],
      options: [{ label: 'Taste' }, { label: 'Price' }],
      allow_other: true,
    },
    { kind: 'text', text: 'What can we improve?' },
    {
      kind: 'choice',
      text: 'How did you hear of us?',
      options: [{ label: 'Friend' }, { label: 'Web' }],
      allow_other: true,
    },
  ],
  new Set(),
);
const [wrong, improve, heard] = questions as [Question, Question, Question];

async function asked() {
  const token = randomBytes(24).toString('base64url');
  const survey_id = await makeSurvey(db, organization, { questions: db.json(questions as never) });
  await makeContact(db, { org_id: organization, survey_id }, { token });
  const saved = async () => {
    const [row] = await db<{ answers: object; sent: boolean }[]>`
      select a.answers, a.sent from response_answers a
      join responses r on r.org_id = a.org_id and r.id = a.response_id
      where r.survey_id = ${survey_id}`;
    return row && { ...row };
  };
  const answered = (ago: string) =>
    db`update responses set created_at = now() - ${ago}::interval where survey_id = ${survey_id}`;
  return { address: `${base}/s/${token}`, saved, answered };
}

for (const javaScriptEnabled of [false, true]) {
  test(`a phone sends all answers ${javaScriptEnabled ? 'with' : 'without'} JavaScript`, async () => {
    const { address, saved } = await asked();
    const context = await browser.newContext({ ...phone, javaScriptEnabled });
    const page = await context.newPage();
    await page.goto(address);
    await page.locator('input[value="2"]').tap();
    await page.getByRole('button').tap();
    await page.getByRole('heading', { name: 'Thank you!' }).waitFor();
    await page.getByLabel('Taste').check();
    await page.getByLabel('What can we improve?').fill('Darker roasts');
    await page.getByRole('textbox', { name: 'Other: How did you hear of us?' }).fill('Radio');
    await page.getByRole('button', { name: 'Send' }).tap();
    await page.getByText('Darker roasts').waitFor();
    assert.equal(await page.getByRole('button').count(), 0);
    assert.deepEqual(await saved(), {
      answers: {
        [wrong.id]: { value: [wrong.options![0]!.id] },
        [improve.id]: { text: 'Darker roasts' },
        [heard.id]: { other: 'Radio' },
      },
      sent: true,
    });
    await context.close();
  });
}

test('a slow press on Send counts while the last answer is being saved', async () => {
  const { address } = await asked();
  const context = await browser.newContext(phone);
  const page = await context.newPage();
  await page.goto(`${address}?score=9`);
  await page.getByRole('button').click();
  await page.getByLabel('What can we improve?').fill('Darker roasts');
  await page.getByRole('button', { name: 'Send' }).click({ delay: 400 });
  await page.getByText('Darker roasts', { exact: true }).and(page.locator('dd')).waitFor();
  await context.close();
});

test('each answer is saved as it changes, by the keyboard too', async () => {
  const { address, saved } = await asked();
  const context = await browser.newContext(desktop);
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => complaints.push(message.text()));
  await page.goto(address);
  await page.locator('input[value="9"]').check();
  await page.getByRole('button').click();
  await page.getByLabel('Web').focus();
  await page.keyboard.press('Space');
  await page.getByText('Saved', { exact: true }).waitFor();
  await page.getByRole('textbox', { name: 'Other: How did you hear of us?' }).fill('Radio');
  await page.keyboard.press('Tab');
  await until('the other answer has replaced the option', async () => {
    const answers = (await saved())?.answers ?? {};
    return JSON.stringify(answers) === JSON.stringify({ [heard.id]: { other: 'Radio' } });
  });
  assert.equal((await saved())!.sent, false);
  await page.goto(address);
  assert.equal(
    await page.getByRole('textbox', { name: 'Other: How did you hear of us?' }).inputValue(),
    'Radio',
  );
  assert.deepEqual(complaints, []);
  await context.close();
});

test('a refused answer is named until it is saved', async () => {
  const { address, saved, answered } = await asked();
  const context = await browser.newContext(phone);
  const page = await context.newPage();
  await page.goto(address);
  await page.locator('input[value="9"]').check();
  await page.getByRole('button').click();
  await page.getByRole('heading', { name: 'Thank you!' }).waitFor();
  await answered('25 hours');
  await page.getByLabel('Web').check();
  const complaint = page.getByText('Your answers could not be saved.');
  await complaint.waitFor();

  await answered('1 hour');
  await page.getByLabel('What can we improve?').fill('Darker roasts');
  await page.keyboard.press('Tab');
  await until('the text is saved', async () => (await saved()) !== undefined);
  assert.equal(await complaint.isVisible(), true);
  await page.getByLabel('Friend').check();
  await page.getByText('Saved', { exact: true }).waitFor();
  assert.equal(await complaint.isVisible(), false);
  await context.close();
});
