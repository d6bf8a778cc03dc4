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
  [
    ...html.matchAll(
      /<details class="(?:reveal|card fold-card)"([^>]*)><summary>(?:<span>)?([^<]*)</g,
    ),
  ]
    .filter(([, attributes]) => attributes!.includes('open'))
    .map(([, , title]) => title);

const wrong = { name: 'Enter a name.' };
const texts = 'Wording';
const others = 'Different wording by category';
const forms: [what: string, typed: Fields, errors: Record<string, string>, open: string[]][] = [
  ['nothing', {}, {}, []],
  ['a mistake elsewhere', {}, wrong, []],
  ['a thank-you', { name: 'Spring', thanks: 'Thanks!' }, {}, []],
  ['a mistake in the thank-you', {}, { ...wrong, thanks: 'Too long.' }, [texts]],
  ['a question by category', { 'follow_up.passive': 'Why?' }, {}, [others]],
  ['a mistake in a link', {}, { 'thanks.promoter.link_url': 'No.' }, [texts, others]],
  ['a language', { languages: ['de'] }, {}, []],
  ['a new language', { languages: ['de'], act: 'add-language' }, {}, ['Languages']],
  ['a mistake in a language', {}, { ...wrong, 'texts.de.intro': 'No.' }, ['Languages']],
  ['a reminder', { 'reminders.3.after_days': '9' }, {}, []],
  [
    'a mistake in the hours',
    {},
    { ...wrong, 'send_window.to': 'No.' },
    ['Scheduling and reminders'],
  ],
];
for (const [what, typed, errors, open] of forms) {
  test(`a form with ${what} opens ${open.length} sections`, () =>
    assert.deepEqual(openSections(renderForm(typed, errors)), open));
}

test('a closed section names what it holds', () => {
  const html = renderForm({
    languages: ['de'],
    thanks: 'Thanks!',
    'follow_up.passive': '',
    'reminders.1.after_days': '3',
    'reminders.1.subject': 'Again',
    'embed.origins': 'https://a.test',
    'embed.delay_seconds': '5',
  });
  const held = [...html.matchAll(/<span class="sub">([^<]*)<\/span><i/g)].map(([, text]) => text);
  assert.deepEqual(held, ['1 custom text', 'English, German', '1 reminder', 'On']);
});
