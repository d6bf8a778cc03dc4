import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { type SurveyType, surveyTypes } from '../../src/survey-types.ts';
import { makeContact, makeOrganization, makeSurvey } from '../support/make/rows.ts';
import { testApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';
import { desktop, launchBrowser, phone, violations } from './browser.ts';
import { serve } from './serve.ts';

const { db } = await testDatabase();
const base = await serve(testApp(db));
const browser = await launchBrowser();
const organization = await makeOrganization(db, { name: 'Harbour & Pine', color: '#0f766e' });

for (const type of surveyTypes) {
  test(`${type}: a finger on a small phone answers, without JavaScript`, async () => {
    const { address, answers } = await ask(type);
    await onPage({ ...phone, javaScriptEnabled: false }, async (page) => {
      await page.goto(address);
      await page.locator('input[value="1"]').tap();
      await page.getByRole('button').tap();
      await page.getByRole('heading', { name: 'Thank you!' }).waitFor();
    });
    assert.deepEqual(await answers(), [{ score: 1, comment: null, held_reason: null }]);
  });

  test(`${type}: the keyboard alone answers`, async () => {
    const { address, answers } = await ask(type);
    await onPage(desktop, async (page) => {
      await page.goto(address);
      for (const key of ['Tab', 'Space', 'ArrowRight']) await page.keyboard.press(key);
      const chosen = Number(await page.locator('input:checked').getAttribute('value'));
      await page.keyboard.press('Tab');
      await page.keyboard.type('Fine, thanks');
      for (const key of ['Tab', 'Enter']) await page.keyboard.press(key);
      await page.getByRole('heading', { name: 'Thank you!' }).waitFor();
      const comment = 'Fine, thanks';
      assert.deepEqual(await answers(), [{ score: chosen, comment, held_reason: null }]);
    });
  });

  test(`${type}: a screen reader reads the question and each score`, async () => {
    const { address } = await ask(type);
    await onPage(desktop, async (page) => {
      await page.goto(address);
      const group = page.getByRole('group', { name: 'How was it?' });
      const named = group.getByRole('radio', { name: /\p{L}|\d/u });
      assert.equal(await named.count(), await page.locator('input[name=score]').count());
      assert.equal(await page.getByRole('textbox').count(), 1);
      assert.deepEqual(await page.getByRole('link').allTextContents(), ['Unsubscribe']);
    });
  });
}

test('a score chosen in the email counts after one press, not before', async () => {
  const { address, answers } = await ask('nps');
  await onPage(phone, async (page) => {
    await page.goto(`${address}?score=9`);
    assert.deepEqual(await answers(), []);
    await page.getByRole('button').tap();
    await page.getByText('9 out of 10').waitFor();
  });
  assert.deepEqual(await answers(), [{ score: 9, comment: null, held_reason: null }]);
});

test('a mouse answers, and a later visit shows the answer', async () => {
  const { address, answers } = await ask('star5');
  await onPage(desktop, async (page) => {
    await page.goto(address);
    await page.locator('label', { hasText: '4 stars' }).click();
    await page.getByRole('textbox').fill('Quiet room.\nKind people.');
    await page.getByRole('button').click();
    await page.getByRole('heading', { name: 'Thank you!' }).waitFor();
    assert.deepEqual(await violations(page), []);

    await page.goto(`${address}?score=1`);
    await page.getByRole('heading', { name: 'You have already answered' }).waitFor();
    assert.equal(await page.getByRole('button').count(), 0);
    assert.deepEqual(await page.locator('dd').allInnerTexts(), [
      '4 stars',
      'Quiet room.\nKind people.',
    ]);
  });
  const comment = 'Quiet room.\nKind people.';
  assert.deepEqual(await answers(), [{ score: 4, comment, held_reason: null }]);
});

test('the browser asks for a missing score', async () => {
  const { address, answers } = await ask('nps');
  await onPage(desktop, async (page) => {
    await page.goto(address);
    await page.getByRole('button').click();
    assert.equal(await page.locator('input:invalid').count(), 11);
    assert.equal(page.url(), address);
  });
  assert.deepEqual(await answers(), []);
});

test('Tab never reaches the hidden field or link', async () => {
  const { address } = await ask('nps');
  const focused = 'document.activeElement.name || document.activeElement.innerText';
  await onPage(desktop, async (page) => {
    await page.goto(`${address}?score=3`);
    const met: string[] = [];
    for (let presses = 0; presses < 4; presses++) {
      await page.keyboard.press('Tab');
      met.push(await page.evaluate<string>(focused));
    }
    assert.deepEqual(met, ['score', 'comment', 'Send answer', 'Unsubscribe']);
  });
});

test('a scanner that presses the button goes on hold', async () => {
  const { address, answers, letTimePass } = await ask('nps');
  await onPage(desktop, async (page) => {
    for (const score of [0, 5, 10]) await page.goto(`${address}?score=${score}`);
    await page.getByRole('button').click();
    await page.getByRole('heading', { name: 'Thank you!' }).waitFor();
    assert.deepEqual((await answers()).map(reasons), ['scores_opened']);
  });

  await letTimePass();
  await onPage(phone, async (page) => {
    await page.goto(`${address}?score=8`);
    await page.getByRole('button').tap();
    await page.getByText('8 out of 10').waitFor();
  });
  assert.deepEqual(await answers(), [{ score: 8, comment: null, held_reason: null }]);
});

test('a script that fills in every field goes on hold', async () => {
  const { address, answers } = await ask('csat');
  await onPage(desktop, async (page) => {
    await page.goto(address);
    await page.evaluate(
      'for (const input of document.querySelectorAll("[type=text]")) input.value = "x"',
    );
    await page.locator('input[value="5"]').check();
    await page.getByRole('button').click();
    await page.getByRole('heading', { name: 'Thank you!' }).waitFor();
  });
  assert.deepEqual((await answers()).map(reasons), ['hidden_field']);
});

test('a script that follows every link goes on hold', async () => {
  const { address, answers } = await ask('csat');
  await onPage(desktop, async (page) => {
    await page.goto(address);
    const hidden = await page.locator('[inert] a').getAttribute('href');
    await page.goto(new URL(hidden!, address).href);
    await page.goto(`${address}?score=5`);
    await page.getByRole('button').click();
    await page.getByRole('heading', { name: 'Thank you!' }).waitFor();
  });
  assert.deepEqual((await answers()).map(reasons), ['hidden_link']);
});

test('the shareable link accepts one answer per browser', async () => {
  const { shared, answers } = await ask('thumbs');
  for (let visitor = 0; visitor < 2; visitor++) {
    await onPage(phone, async (page) => {
      await page.goto(shared);
      await page.locator('label', { hasText: 'Thumbs up' }).tap();
      await page.getByRole('button').tap();
      await page.getByRole('heading', { name: 'Thank you!' }).waitFor();
      await page.goto(shared);
      await page.getByRole('heading', { name: 'You have already answered' }).waitFor();
    });
  }
  assert.deepEqual(
    (await answers()).map(({ score }) => score),
    [1, 1],
  );
});

type Answer = { score: number; comment: string | null; held_reason: string | null };

const reasons = ({ held_reason }: Answer) => held_reason;

/** A survey of the given type, and a contact with a personal link. */
async function ask(type: SurveyType) {
  const share_id = randomBytes(12).toString('base64url');
  const token = randomBytes(24).toString('base64url');
  const survey = { type, share_id, question_text: 'How was it?' };
  const survey_id = await makeSurvey(db, organization, survey);
  const contact_id = await makeContact(db, { org_id: organization, survey_id }, { token });
  return {
    address: `${base}/s/${token}`,
    shared: `${base}/f/${share_id}`,
    answers: async () => [
      ...(await db<Answer[]>`
        select score, comment, held_reason from responses where survey_id = ${survey_id}`),
    ],
    letTimePass: async () => {
      await db`
        update link_visits set visited_at = visited_at - interval '1 minute'
        where contact_id = ${contact_id}`;
    },
  };
}

async function onPage(options: BrowserContextOptions, use: (page: Page) => Promise<void>) {
  const context = await browser.newContext(options);
  try {
    await use(await context.newPage());
  } finally {
    await context.close();
  }
}
