import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as v from 'valibot';
import { fieldErrors, readSurveyFields } from '../../src/surveys/form-fields.ts';
import { NewSurveyInput } from '../../src/surveys/schemas.ts';

const usual = {
  name: 'Onboarding',
  question_text: 'How was it?',
  from_name: 'Ann',
  from_email: 'ann@acme.test',
};
const window = {
  'send_window.days': ['mon'],
  'send_window.from': '09:00',
  'send_window.to': '17:00',
  'send_window.time_zone': 'UTC',
};
const days = (at: number, after: string) => ({ [`reminders.${at}.after_days`]: after });

const mistakes: [typed: Record<string, string | string[]>, errors: Record<string, string>][] = [
  [{}, {}],
  [{ name: ' ' }, { name: 'Must not be empty.' }],
  [{ 'thanks.promoter.link_url': 'https://r.test/' }, {}],
  [{ name: `${'x'.repeat(201)}\u0007` }, { name: 'Must be at most 200 characters.' }],
  [days(1, '61'), { 'reminders.1.after_days': 'Must be a whole number from 1 to 60.' }],
  [
    { ...days(1, '3'), ...days(3, 'soon') },
    { 'reminders.2.after_days': 'Must be a whole number from 1 to 60.' },
  ],
  [
    { ...days(1, '3'), ...days(2, '4'), 'reminders.2.subject': 'x'.repeat(201) },
    { 'reminders.2.subject': 'Must be at most 200 characters.' },
  ],
  [
    { ...days(1, '3'), ...days(2, '3') },
    { 'reminders.1.after_days': 'Must be after different numbers of days.' },
  ],
  [{ ...window, 'send_window.to': '08:00' }, { 'send_window.to': 'Must begin before it ends.' }],
  [
    { ...window, 'send_window.days': ['mon', 'x'] },
    { 'send_window.days': 'Must be among mon, tue, wed, thu, fri, sat, sun.' },
  ],
  [
    { 'embed.origins': 'https://a.test b.test c.test' },
    { 'embed.origins': 'Must be an origin such as https://www.example.com, without a path.' },
  ],
  [
    { 'texts.de.question_text': '{{x}}', languages: 'de' },
    {
      'texts.de.question_text':
        '{{x}} is not a placeholder; use {{name}}, {{first_name}} or {{properties.NAME}}, with an optional fallback such as {{name|you}}.',
    },
  ],
];
for (const [typed, errors] of mistakes) {
  const [field = 'no field'] = Object.keys(errors);
  test(`shows an error on ${field} for ${JSON.stringify(typed).slice(0, 40)}`, () => {
    const { issues } = v.safeParse(NewSurveyInput, readSurveyFields({ ...usual, ...typed }));
    assert.deepEqual(fieldErrors(issues ?? []), errors);
  });
}

test('a common text fills the categories without their own text', () => {
  const { follow_up, thanks } = readSurveyFields({
    follow_up: 'Why?',
    'follow_up.passive': 'Why not?',
    thanks: 'Thanks',
    'thanks.promoter.link_url': 'https://r.test/',
  });
  assert.deepEqual(follow_up, { promoter: 'Why?', passive: 'Why not?', detractor: 'Why?' });
  const all = { text: 'Thanks' };
  const linked = { text: 'Thanks', link_url: 'https://r.test/', link_text: undefined };
  assert.deepEqual(thanks, { promoter: linked, passive: all, detractor: all });
  assert.equal(readSurveyFields({ thanks: 'Thanks' }).thanks, 'Thanks');
  assert.deepEqual(readSurveyFields({ 'follow_up.detractor': 'Why?' }).follow_up, {
    detractor: 'Why?',
  });
});
