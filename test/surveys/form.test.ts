import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SurveyForm } from '../../src/surveys/screens/edit.tsx';

type Fields = Record<string, string | string[]>;

const renderForm = (typed: Fields, errors: Record<string, string> = {}) => {
  const form = { typed: { language: 'en', ...typed }, errors };
  const paths = {
    action: '/o/acme/surveys',
    cancel: '/o/acme/surveys',
    surveys: '/o/acme/surveys',
  };
  return String(SurveyForm({ form, ...paths, existing: null }));
};

const openSections = (html: string) =>
  [...html.matchAll(/<details class="(?:reveal|card fold-card)"([^>]*)><summary>([^<]*)</g)]
    .filter(([, attributes]) => attributes!.includes('open'))
    .map(([, , title]) => title);

const wrong = { name: 'Enter a name.' };
const texts = 'Wording';
const others = 'Different wording by category';
const forms: [what: string, typed: Fields, errors: Record<string, string>, open: string[]][] = [
  ['nothing', {}, {}, []],
  ['a mistake elsewhere', {}, wrong, []],
  ['a thank-you', { name: 'Spring', thanks: 'Thanks!' }, {}, [texts]],
  ['an empty thank-you', { thanks: '' }, {}, []],
  ['a mistake in the thank-you', {}, { ...wrong, thanks: 'Too long.' }, [texts]],
  ['a question by category', { 'follow_up.passive': 'Why?' }, {}, [texts, others]],
  ['an empty question by category', { thanks: 'Hi', 'follow_up.passive': '' }, {}, [texts]],
  ['a mistake in a link', {}, { 'thanks.promoter.link_url': 'No.' }, [texts, others]],
  ['a language', { languages: ['de'] }, {}, ['Languages']],
  [
    'words by category of a language',
    { languages: ['de'], 'texts.de.thanks.promoter': 'Danke' },
    {},
    ['Languages', others],
  ],
  ['a mistake in a language', {}, { ...wrong, 'texts.de.intro': 'No.' }, ['Languages']],
  ['a reminder', { 'reminders.3.after_days': '9' }, {}, ['Scheduling and reminders']],
  [
    'a mistake in the hours',
    {},
    { ...wrong, 'send_window.to': 'No.' },
    ['Scheduling and reminders'],
  ],
  ['the hours alone', { 'send_window.from': '09:00' }, {}, []],
  ['a website', { 'embed.origins': 'https://a.test' }, {}, ['Website embed']],
  ['a delay but no website', { 'embed.delay_seconds': '5' }, {}, []],
];
for (const [what, typed, errors, open] of forms) {
  test(`a form with ${what} opens ${open.length} sections`, () =>
    assert.deepEqual(openSections(renderForm(typed, errors)), open));
}
