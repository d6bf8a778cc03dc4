import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from '../../src/lib/validation/parse.ts';
import type { SurveyContent } from '../../src/surveys/queries.ts';
import { embeddingOf, NewSurveyInput } from '../../src/surveys/schemas.ts';
import { checkContent, nameOfCopy } from '../../src/surveys/texts.ts';

const usual = {
  name: 'Onboarding',
  question_text: 'How was it?',
  from_name: 'Ann',
  from_email: 'ann@acme.test',
};
const read = (over: object) => parse(NewSurveyInput, { ...usual, ...over });
const errorOf = (over: object) => {
  try {
    read(over);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
};

const long = (length: number) => '👩'.repeat(length);
const url = (length: number) => 'https://acme.test/'.padEnd(length, 'a');
const days = (...after: number[]) => after.map((after_days) => ({ after_days }));
const origins = (many: number) =>
  Array.from({ length: many }, (_, place) => `https://a${place}.test`);
const languages = (many: number) =>
  Object.fromEntries(
    Array.from({ length: many }, (_, place) => [`de-${150 + place}`, { question_text: 'x' }]),
  );

const edges: [field: string, accepted: unknown, rejected: unknown, message: string][] = [
  ['name', long(200), long(201), 'name: must be at most 200 characters'],
  ['question_text', long(500), long(501), 'question_text: must be at most 500 characters'],
  ['from_name', long(200), long(201), 'from_name: must be at most 200 characters'],
  ['subject', long(200), long(201), 'subject: must be at most 200 characters'],
  ['intro', long(2000), long(2001), 'intro: must be at most 2000 characters'],
  ['follow_up', long(300), 7, 'follow_up: must be text, or an object with texts by category'],
  [
    'thanks',
    long(1000),
    7,
    'thanks: must be text, or an object by category with text, link_url and link_text',
  ],
  ['ask_after_days', 0, -1, 'ask_after_days: must be a whole number from 0 to 365'],
  ['ask_after_days', 365, 366, 'ask_after_days: must be a whole number from 0 to 365'],
  ['ask_after_days', 1, 1.5, 'ask_after_days: must be a whole number from 0 to 365'],
  ['reminders', days(1), days(0), 'reminders.0.after_days: must be a whole number from 1 to 60'],
  ['reminders', days(60), days(61), 'reminders.0.after_days: must be a whole number from 1 to 60'],
  ['reminders', days(1, 2, 3), days(1, 2, 3, 4), 'reminders: must be at most 3'],
  ['reminders', days(1, 2), days(2, 2), 'reminders: must be after different numbers of days'],
  [
    'embed',
    { origins: origins(20) },
    { origins: origins(21) },
    'embed.origins: must be at most 20',
  ],
  [
    'embed',
    { origins: [], delay_seconds: 600 },
    { origins: [], delay_seconds: 601 },
    'embed.delay_seconds: must be a whole number from 0 to 600',
  ],
  [
    'embed',
    { origins: [], every_days: 365 },
    { origins: [], every_days: 366 },
    'embed.every_days: must be a whole number from 0 to 365',
  ],
  [
    'embed',
    { origins: [], position: 'inline' },
    { origins: [], position: 'top' },
    'embed.position: must be inline or corner',
  ],
  ['texts', languages(30), languages(31), 'texts: must be in at most 30 languages'],
];
for (const [field, accepted, rejected, message] of edges) {
  test(`limits ${message.slice(0, 60)}`, () => {
    assert.equal(errorOf({ [field]: accepted }), undefined);
    assert.equal(errorOf({ [field]: rejected }), message);
  });
}

const inner: [field: string, accepted: unknown, rejected: unknown][] = [
  ['follow_up', long(300), long(301)],
  ['follow_up', { passive: long(300) }, { passive: long(301) }],
  ['follow_up', { detractor: 'x' }, { other: 'x' }],
  ['thanks', long(1000), long(1001)],
  ['thanks', { promoter: { text: long(1000) } }, { promoter: { text: long(1001) } }],
  [
    'thanks',
    { passive: { text: 'x', link_text: long(80) } },
    { passive: { text: 'x', link_text: long(81) } },
  ],
  [
    'thanks',
    { passive: { text: 'x', link_url: url(2000) } },
    { passive: { text: 'x', link_url: url(2001) } },
  ],
  [
    'thanks',
    { passive: { text: 'x', link_url: url(20) } },
    { passive: { text: 'x', link_url: 'javascript:alert(1)' } },
  ],
  [
    'thanks',
    { passive: { text: 'x' } },
    { passive: { text: 'x', link_url: 'https://ann@acme.test' } },
  ],
  [
    'thanks',
    { passive: { text: 'x' } },
    { passive: { text: 'x', link_url: 'https://:secret@acme.test' } },
  ],
  ['thanks', { detractor: { text: 'x' } }, {}],
  ['intro', 'one\ttab\ntwo\r\nthree', 'one\ntwo\u0007'],
  ['intro', 'one\r\ntwo', 'one\u0007\ntwo'],
  [
    'texts',
    { de: { question_text: 'x' }, sv: { question_text: 'x' } },
    { de: { question_text: 'x' }, 'no tag': { question_text: 'x' } },
  ],
];
for (const [field, accepted, rejected] of inner) {
  test(`rejects ${field} ${JSON.stringify(rejected).slice(0, 50)}`, () => {
    assert.equal(errorOf({ [field]: accepted }), undefined);
    assert.match(errorOf({ [field]: rejected }) ?? '', new RegExp(`^${field}`));
  });
}

const windows: [window: object, message: string | undefined][] = [
  [{}, undefined],
  [{ from: '00:00', to: '23:59' }, undefined],
  [{ from: '17:00', to: '17:00' }, 'send_window: must begin before it ends'],
  [{ from: '08:60' }, 'send_window.from: must be a time such as 09:00'],
  [{ to: '24:00' }, 'send_window.to: must be a time such as 09:00'],
  [{ to: '19:60' }, 'send_window.to: must be a time such as 09:00'],
  [{ days: [] }, 'send_window.days: must name at least one day'],
  [{ days: ['monday'] }, 'send_window.days.0: must be among mon, tue, wed, thu, fri, sat, sun'],
  [{ time_zone: 'Mars/Base' }, 'send_window.time_zone: must be a time zone such as Europe/Berlin'],
];
for (const [over, message] of windows) {
  test(`${message ? 'rejects' : 'accepts'} the window ${JSON.stringify(over)}`, () => {
    const window = {
      days: ['mon'],
      from: '09:00',
      to: '17:00',
      time_zone: 'Europe/Berlin',
      ...over,
    };
    assert.equal(errorOf({ send_window: window }), message);
  });
}

test('sorts days and reminders, and removes duplicate origins', () => {
  const time_zone = 'Europe/Berlin';
  const input = read({
    send_window: { days: ['sun', 'mon', 'sun'], from: '09:00', to: '17:00', time_zone },
    reminders: [
      { after_days: 9, subject: null },
      { after_days: 2, subject: 'Again' },
    ],
    embed: { origins: ['https://A.test/', 'https://a.test', ' http://localhost:3000 '] },
    texts: { 'pt-br': { question_text: 'Como foi?', intro: null, subject: 'Uma pergunta' } },
  });
  assert.deepEqual(input.send_window?.days, ['mon', 'sun']);
  assert.deepEqual(input.reminders, [{ after_days: 2, subject: 'Again' }, { after_days: 9 }]);
  assert.deepEqual(input.embed, {
    origins: ['https://a.test', 'http://localhost:3000'],
    position: 'corner',
    delay_seconds: 5,
    every_days: 30,
  });
  assert.deepEqual(input.texts, {
    'pt-BR': { question_text: 'Como foi?', subject: 'Uma pergunta' },
  });
  assert.deepEqual(embeddingOf({ every_days: 0 }), {
    origins: [],
    position: 'corner',
    delay_seconds: 5,
    every_days: 0,
  });
});

test('accepts https origins, and http only for localhost', () => {
  const isValid = (origin: string) => errorOf({ embed: { origins: [origin] } }) === undefined;
  for (const origin of [
    'https://acme.test',
    'https://acme.test:8443',
    'http://127.0.0.1',
    'http://[::1]:1',
  ])
    assert.ok(isValid(origin), origin);
  for (const origin of [
    'http://acme.test',
    'https://acme.test/a',
    'https://*.acme.test',
    'ftp://localhost',
    'acme.test',
    'https://a;b.test',
  ])
    assert.ok(!isValid(origin), origin);
});

test('checks audience and translations against type and language', () => {
  const content = (over: object) =>
    ({ type: 'nps', audience: null, language: 'en', texts: {}, ...over }) as SurveyContent;
  checkContent(content({}));
  checkContent(content({ audience: 'employee' }));
  checkContent(content({ type: 'csat', texts: { de: { question_text: 'x' } } }));
  assert.throws(() => checkContent(content({ type: 'csat', audience: 'employee' })), {
    kind: 'invalid',
    message: 'audience: only an nps survey can be an employee survey',
  });
  assert.throws(() => checkContent(content({ texts: { en: { question_text: 'x' } } })), {
    kind: 'invalid',
    message:
      "texts: en is the survey's own language; set question_text, subject, intro, follow_up and thanks instead",
  });
});

test('the name of a copy fits the limit without splitting characters', () => {
  assert.equal(nameOfCopy('Onboarding'), 'Onboarding (copy)');
  assert.equal(nameOfCopy(long(200)), `${long(190)} (copy)`);
  assert.equal(errorOf({ name: nameOfCopy(long(200)) }), undefined);
});
