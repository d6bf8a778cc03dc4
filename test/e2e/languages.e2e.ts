import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { formPage } from '../../src/responses/view/form.tsx';
import {
  answeredPage,
  notSavedPage,
  notTakingAnswersPage,
  thanksPage,
} from '../../src/responses/view/messages.tsx';
import { unsubscribePage } from '../../src/suppressions/pages.tsx';
import { surveyTypes } from '../../src/survey-types.ts';
import { languageOf, languages } from '../../src/web/language.ts';
import { errorPage } from '../../src/web/layout.tsx';
import { arrivedMail } from '../support/make/survey-mail.ts';
import { keepScreenshot, launchBrowser, phone } from './browser.ts';
import { followUp } from './follow-up.ts';

const browser = await launchBrowser();
const context = await browser.newContext({ ...phone, reducedMotion: 'reduce' });
const page = await context.newPage();
after(() => context.close());

const sender = { name: 'Donaudampfschifffahrt & Söhne', color: '#0f766e' };
const email = 'konstantin.alexandropoulos@customers.example.com';
const looked = /^(form-nps|form-csat|form-thumbs|thanks|questions|unsubscribed|mail-nps)$/;

for (const tag of languages.keys()) {
  test(`${tag}: all texts of pages and emails fit a phone of 360 pixels`, async () => {
    for (const [name, html] of Object.entries(await everything(tag))) {
      await page.setContent(html);
      assert.deepEqual(await page.evaluate(findTooWide), [], `${tag} ${name}`);
      if (looked.test(name)) await keepScreenshot(page, `language-${tag}-${name}`);
    }
  });
}

/** Elements that overflow the page or hide their own text. Runs in the page. */
const findTooWide = `(() => {
  const width = document.documentElement.clientWidth;
  const wide = [...document.querySelectorAll('body *')].filter((element) => {
    if (element.closest('.away, .hidden, [aria-hidden=true], .face small')) return false;
    const { left, right, width: own } = element.getBoundingClientRect();
    const cut = element.clientWidth > 0 && element.scrollWidth > element.clientWidth + 1;
    return own > 0 && (left < -1 || right > width + 1 || cut);
  });
  const scrolls = document.documentElement.scrollWidth > width ? ['the page scrolls'] : [];
  return [...scrolls, ...wide.map((element) => element.outerHTML.slice(0, 200))];
})()`;

async function everything(tag: string): Promise<Record<string, string>> {
  const language = languageOf(tag);
  const address = { action: '', trapUrl: '/x', unsubscribeUrl: '/u' };
  const survey = { type: 'nps', question: 'Q?', language: tag, sender } as const;
  const answer = { score: 2, comment: 'A comment', at: new Date('2026-09-23T10:00:00Z') };
  const pages = {
    thanks: thanksPage({ survey, language, answer }),
    questions: thanksPage({ survey, language, answer, questions: followUp(tag) }),
    answered: answeredPage({ survey: { ...survey, type: 'star5' }, language, answer }),
    closed: notTakingAnswersPage('closed', { survey, language }),
    draft: notTakingAnswersPage('draft', { survey, language }),
    'not-saved': notSavedPage(language, { action: '', fields: { comment: 'A comment' } }),
    ...Object.fromEntries(
      (['ask', 'unsubscribed', 'resubscribed'] as const).map((state) => [
        state,
        unsubscribePage({ state, language, sender, email, action: '' }),
      ]),
    ),
    ...Object.fromEntries(
      (
        ['notFound', 'tooManyRequests', 'tooLarge', 'refused', 'unavailable', 'broken'] as const
      ).map((trouble) => [trouble, errorPage(trouble, language)]),
    ),
  };
  const forms: Record<string, string> = {};
  for (const type of surveyTypes) {
    const form = { survey: { ...survey, type }, language, ...address };
    forms[`form-${type}`] = formPage({ ...form, score: 1 }).html;
    const mail = await arrivedMail({ survey: { type, language: tag }, organization: sender });
    forms[`mail-${type}`] = mail.html;
  }
  for (const complaint of [
    'scoreMissing',
    'commentTooLong',
    'tooManyAnswers',
    'notSaved',
  ] as const) {
    forms[complaint] = formPage({ survey, language, ...address, complaint }).html;
  }
  const shown = Object.entries(pages).map(([name, { html }]) => [name, html]);
  return { ...Object.fromEntries(shown), ...forms };
}
