import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type CountryCode, getCountries, getExampleNumber } from 'libphonenumber-js';
import examples from 'libphonenumber-js/mobile/examples';
import {
  cut,
  type PeopleToRedact,
  redact,
  redactedExcerpt,
  removeKnownPeople,
} from '../../../src/lib/redact/redact.ts';

const noNames: PeopleToRedact = { names: [], emails: [] };
const ann: PeopleToRedact = { names: ["Ann O'Brien-Müller", '王伟'], emails: ['ann@acme.test'] };

const cases: [comment: string, redacted: string][] = [
  ['all went well, thanks', 'all went well, thanks'],
  ['write to bob.x+tag@mail.example.co.uk.', 'write to [email].'],
  ['or <mailto:bob@x.test>, please', 'or <mailto:[email]>, please'],
  ['bob (at) example (dot) com', '[email]'],
  ['bob\u200b@example.com', '[email]'],
  ['call +49 (0)30 123 45-67 now', 'call [phone] now'],
  ['call 030/1234567.', 'call [phone].'],
  ['call (415) 555-0132 or 415.555.0132', 'call [phone] or [phone]'],
  ['اتصل ٠١٢٣٤٥٦٧٨٩', 'اتصل [phone]'],
  ['since 2026-03-14 it fails', 'since 2026-03-14 it fails'],
  ['from 14.03.2026 - 16.03.2026 only', 'from 14.03.2026 - 16.03.2026 only'],
  ['a server at 192.168.10.20 is down', 'a server at 192.168.10.20 is down'],
  ['a server at 10.255.255.255 is down', 'a server at 10.255.255.255 is down'],
  ['a call from 10.255.255.256 came', 'a call from [phone] came'],
  ['v1.20.300.4000.5 is slow', 'v1.20.300.4000.5 is slow'],
  ['since version 120.0.6099.109 it is slow', 'since version 120.0.6099.109 it is slow'],
  ['call 30.12.34.56', 'call [phone]'],
  ['ordered 3 of 120, paid 1500', 'ordered 3 of 120, paid 1500'],
  ['i liked ANN very much', 'i liked [name] very much'],
  ['ask ann o’brien or brien', 'ask [name] o’[name] or [name]'],
  ['ask Mu\u0308ller', 'ask [name]'],
  ['ask Ann. Müller, or Ann - Müller', 'ask [name], or [name] - [name]'],
  ['the code 123456, or 12 34 56, or 1234567', 'the code 123456, or 12 34 56, or [phone]'],
  ['planning annually is fine', 'planning annually is fine'],
  ['王伟很好', '[name]很好'],
  ['your driver Ahmed called', 'your driver [name] called'],
  ['it was Priya Raman who helped', 'it was [name] who helped'],
  ['it is slow in Paris on Monday', 'it is slow in Paris on Monday'],
  ['Excel crashes when I open Outlook', 'Excel crashes when I open Outlook'],
  ['we are a family 👨‍👩‍👧 here', 'we are a family 👨‍👩‍👧 here'],
  ['نمی‌خواهم', 'نمی‌خواهم'],
  ['An\u200dn or 王\u200d伟 or bob\u200d@x.test', '[name] or [name] or [email]'],
  ['call 030\u200d1234567 now', 'call [phone] now'],
];

for (const [comment, redacted] of cases) {
  test(`${JSON.stringify(comment)} becomes ${JSON.stringify(redacted)}`, async () => {
    assert.equal(await redact(comment, ann), redacted);
    assert.equal(await redactedExcerpt(comment, ann), redacted);
  });
}

test('replaces the longest of names with the same beginning', async () => {
  for (const names of [
    ['王伟', '王伟明'],
    ['王伟明', '王伟'],
  ]) {
    const known = { names, emails: [] };
    assert.equal(await redact('王伟明很好, 王伟也好', known), '[name]很好, [name]也好');
    assert.equal(await redact('all went well', known), 'all went well');
  }
});

test('replaces each word of a name with two or more letters', () => {
  const known = { names: ['Wu-Li J'], emails: [] };
  for (const name of ['Wu', 'Li', 'wu-li', 'WU-LI']) {
    assert.equal(removeKnownPeople(`ask ${name} about plan J`, known), 'ask [name] about plan J');
  }
});

const cuts: [text: string, length: number, kept: string][] = [
  ['short', 100, 'short'],
  ['call [', 6, 'call ['],
  ['a [email] b', 9, 'a [email]'],
  ['a [email] b', 8, 'a '],
  ['a [email] b', 3, 'a '],
  ['[name]', 5, ''],
  ['a [note] b', 5, 'a [no'],
  ['😀😀😀', 2, '😀😀'],
  ['anything', -1, ''],
];

for (const [text, length, kept] of cuts) {
  test(`${text} cut to ${length} is ${JSON.stringify(kept)}`, () => {
    assert.equal(cut(text, length), kept);
  });
}

/** Text of random length around the planted text, so that it meets every cut. */
const prose = fc
  .array(fc.constantFrom('it', 'was', 'late', 'and', 'wet,', 'but', 'fine.', 'so', 'very'), {
    maxLength: 500,
  })
  .map((words) => words.join(' '));

const around = (planted: fc.Arbitrary<string>) => fc.tuple(prose, planted, prose);
const runs = { numRuns: 150 };

test('a planted e-mail address never survives', async () => {
  await fc.assert(
    fc.asyncProperty(around(fc.emailAddress()), async ([before, email, after]) => {
      const excerpt = await redactedExcerpt(`${before} ${email} ${after}`, noNames);
      assert.doesNotMatch(excerpt, /@/);
      assert.ok(!excerpt.includes(email.slice(0, 5)) || before.includes(email.slice(0, 5)));
    }),
    runs,
  );
});

test('a planted known name never survives, in any case', async () => {
  const name = fc.constantFrom(
    'Thandiwe',
    'STRAẞER',
    'straßer',
    'İpek',
    'Nguyễn',
    'Ørsted',
    'Жанна',
  );
  const spelled = fc.tuple(name, fc.constantFrom('', 'toUpperCase', 'toLowerCase', 'nfd'));
  await fc.assert(
    fc.asyncProperty(around(spelled.map(spell)), async ([before, planted, after]) => {
      const names = ['Thandiwe Straßer İpek', 'STRAẞER', 'Nguyễn Ørsted', 'Жанна'];
      const excerpt = await redactedExcerpt(`${before} ${planted} ${after}`, { names, emails: [] });
      assert.ok(!excerpt.normalize('NFC').includes(planted.normalize('NFC').slice(0, 4)), excerpt);
    }),
    runs,
  );
});

const phoneNumbers = getCountries().flatMap((country: CountryCode) => {
  const number = getExampleNumber(country, examples);
  const written = number
    ? [
        number.formatInternational(),
        number.format('E.164'),
        number.formatNational(),
        number.format('RFC3966'),
      ]
    : [];
  return written.filter((text) => text.replace(/\P{Nd}/gu, '').length >= 7);
});

test('replaces the phone number formats of every country', async () => {
  assert.ok(phoneNumbers.length > 900);
  for (const number of phoneNumbers) {
    assert.doesNotMatch(await redact(`call ${number} please`, noNames), /[0-9]{2}/, number);
  }
});

test('a planted phone number never survives', async () => {
  await fc.assert(
    fc.asyncProperty(around(fc.constantFrom(...phoneNumbers)), async ([before, number, after]) => {
      const excerpt = await redactedExcerpt(`${before} ${number} ${after}`, noNames);
      assert.doesNotMatch(excerpt, /[0-9]/);
    }),
    runs,
  );
});

test('an excerpt has at most 100 characters and no broken placeholder', async () => {
  const piece = fc.constantFrom('ann@acme.test', '+49 30 1234567', 'Ann', 'and so on', '😀');
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 300 }), async (pieces) => {
      const excerpt = await redactedExcerpt(pieces.join(' '), ann);
      assert.ok(Array.from(excerpt).length <= 100);
      assert.doesNotMatch(excerpt.replace(/\[(email|phone|name)\]/g, ''), /\[|ann|1234/i);
    }),
    runs,
  );
});

test('an excerpt is the first 100 characters after redaction', async () => {
  const comment = 'it was slow and it came late, '.repeat(200);
  for (const length of [100, 101, 320, 400, 401, 2000, 2001, comment.length])
    assert.equal(await redactedExcerpt(comment.slice(0, length), noNames), comment.slice(0, 100));
});

test('keeps the ordinary words of a long comment', async () => {
  await redact('a first comment loads what recognizes names', noNames);
  const sentence = 'Then it was slow in Paris on Monday, and Excel crashed again. ';
  assert.equal(await redact(sentence.repeat(12), noNames), sentence.repeat(12));
});

test('an excerpt has no half names or addresses from the edge', async () => {
  const long = `${'x'.repeat(120)}@${'y'.repeat(120)}.test`;
  for (let shift = 0; shift < 130; shift++) {
    const excerpt = await redactedExcerpt(`${'a '.repeat(shift)}${`${long} `.repeat(40)}`, noNames);
    assert.doesNotMatch(excerpt, /xx|yy/);
  }
  for (let shift = 0; shift < 30; shift++) {
    const names = 'Katherine Kowalskiewiczowska-Brzeczyszczykiewicz, '.repeat(40);
    const excerpt = await redactedExcerpt(`${'a '.repeat(shift)}${names}`, noNames);
    assert.doesNotMatch(excerpt, /[KB][a-z]/);
  }
});

function spell([name, how]: [string, string]): string {
  if (how === 'toUpperCase') return name.toUpperCase();
  if (how === 'toLowerCase') return name.toLowerCase();
  return how === 'nfd' ? name.normalize('NFD') : name;
}
