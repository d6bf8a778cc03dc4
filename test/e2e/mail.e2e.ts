import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { surveyTypes } from '../../src/survey-types.ts';
import { arrivedMail } from '../support/make/survey-mail.ts';
import { keepScreenshot, launchBrowser, violations } from './browser.ts';

const browser = await launchBrowser();

type View = { width: number; colorScheme?: 'light' | 'dark' };

async function show(html: string, { width, colorScheme = 'light' }: View) {
  const page = await browser.newPage({ viewport: { width, height: 640 }, colorScheme });
  await page.setContent(html);
  return page;
}

/** Landmarks are required for pages, but a mail is part of a mail program's page. */
const ofMail = (violation: string) => !/^(landmark-one-main|region):/.test(violation);

const cells = (page: Page) =>
  page.$$eval('td.cell', (found) =>
    found.map((cell) => {
      const { top, width, height } = cell.getBoundingClientRect();
      return { top: Math.round(top), width, height };
    }),
  );

const overflow = (page: Page) =>
  page.evaluate<number>('document.documentElement.scrollWidth - window.innerWidth');

for (const type of surveyTypes) {
  test(`${type}: score cells have 44 px on the narrowest phone`, async () => {
    const { html } = await arrivedMail({ survey: { type } });
    const page = await show(html, { width: 320 });
    for (const { width, height } of await cells(page)) assert.ok(width >= 44 && height >= 44);
    assert.ok((await overflow(page)) <= 0);
    await page.close();
  });
}

test('eleven scores fill two rows on a phone and one on a desktop', async () => {
  const { html } = await arrivedMail();
  for (const [width, rows] of [
    [360, 2],
    [700, 1],
  ] as const) {
    const page = await show(html, { width });
    assert.equal(new Set((await cells(page)).map(({ top }) => top)).size, rows);
    await page.close();
  }
});

for (const colorScheme of ['light', 'dark'] as const) {
  test(`an email is accessible in any colour in the ${colorScheme} scheme`, async () => {
    for (const color of ['#2f6fed', '#ffe600', '#000000', '#ffffff', '#d9480f']) {
      const { html } = await arrivedMail({ organization: { color } });
      const page = await show(html, { width: 360, colorScheme });
      assert.deepEqual((await violations(page)).filter(ofMail), [], color);
      await page.close();
    }
  });
}

test('saves screenshots of emails', async () => {
  for (const type of surveyTypes) {
    const language = type === 'ces' ? 'ar' : type === 'csat' ? 'de' : 'en';
    const { html } = await arrivedMail({ survey: { type, language } });
    for (const width of [360, 700]) {
      for (const colorScheme of ['light', 'dark'] as const) {
        const page = await show(html, { width, colorScheme });
        await keepScreenshot(page, `mail-${type}-${width}-${colorScheme}`);
        await page.close();
      }
    }
  }
});
