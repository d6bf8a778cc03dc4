import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as v from 'valibot';
import type { Refusal } from '../../../src/errors.ts';
import {
  BooleanParameter,
  isInCalendar,
  isLanguage,
  isPlainLine,
  oneLine,
  parse,
  parseJson,
  parseQuery,
  parseWriteQuery,
} from '../../../src/lib/validation/parse.ts';

const Contact = v.object({
  email: v.pipe(v.string(), v.email('must be an address'), v.maxLength(9, 'must be short')),
  age: v.number('must be a number'),
  tags: v.optional(v.array(v.string('must be text')), []),
});

test('an error lists each invalid field once, in order', () => {
  const given = { email: 'not an address', tags: ['a', 1, 'b', 2] };
  assert.equal(
    refusalOf(() => parse(Contact, given)).message,
    'email: must be an address; age is required; tags.1: must be text; tags.3: must be text',
  );
});

test('one error is one sentence', () => {
  assert.equal(refusalOf(() => parse(Contact, { age: 1 })).message, 'email is required');
  assert.equal(
    refusalOf(() => parse(v.string('must be text'), 1)).message,
    'the body: must be text',
  );
});

const Query = v.object({ dry_run: v.optional(BooleanParameter), to2: v.optional(v.string()) });

test('a write refuses misspelt parameters and ignores others', () => {
  for (const name of ['dryrun', 'DRY_RUN', 'dry-run', 'dryRun', 'dry_run[]', 'to_2']) {
    const { kind, message } = refusalOf(() => parseWriteQuery(Query, { [name]: ['true'] }));
    assert.equal(kind, 'invalid');
    assert.equal(
      message,
      `${name} is not a parameter: did you mean ${name.startsWith('to') ? 'to2' : 'dry_run'}?`,
    );
  }
  const others = { dry: ['true'], run: ['true'], to: ['1'], '': ['x'], dry_runs: ['true'] };
  assert.deepEqual(parseWriteQuery(Query, { ...others, dry_run: ['true'] }), { dry_run: true });
});

test('the first value counts, and booleans must not be repeated', () => {
  assert.deepEqual(parseQuery(Query, { to2: ['a', 'b'] }), { to2: 'a' });
  assert.deepEqual(parseQuery(Query, { dry_run: ['false'] }), { dry_run: false });
  for (const values of [
    ['true', 'false'],
    ['true', 'true'],
  ]) {
    const { message } = refusalOf(() => parseQuery(Query, { dry_run: values }));
    assert.equal(message, 'dry_run: must not be repeated');
  }
  const schema = v.object({ tag: v.optional(v.pipe(v.array(v.string()), v.maxLength(2)), []) });
  assert.deepEqual(parseQuery(schema, { tag: ['a', 'b'] }), { tag: ['a', 'b'] });
});

test('at most five errors are listed', () => {
  const mistakes = (count: number) =>
    refusalOf(() =>
      parse(
        v.array(v.string('no')),
        Array.from({ length: count }, () => 1),
      ),
    ).message;
  assert.equal(mistakes(5), '0: no; 1: no; 2: no; 3: no; 4: no');
  assert.equal(mistakes(6), '0: no; 1: no; 2: no; 3: no; 4: no; and 1 more');
});

function refusalOf(work: () => unknown): Refusal {
  try {
    work();
  } catch (error) {
    return error as Refusal;
  }
  throw new Error('nothing was refused');
}

const lists = (levels: number, inside: string) => '['.repeat(levels) + inside + ']'.repeat(levels);
const objects = (levels: number, inside: string) =>
  '{"a":'.repeat(levels) + inside + '}'.repeat(levels);

for (const nested of [lists, objects]) {
  test(`${nested === lists ? 'lists' : 'objects'} may have 64 levels, with any value inside`, () => {
    for (const inside of ['1', '"x"', 'null', 'true']) {
      const text = nested(64, inside);
      assert.equal(JSON.stringify(parseJson(text)), text);
      assert.throws(() => parseJson(nested(65, inside)), /nested more than 64 levels/);
    }
    for (const empty of ['[]', '{}']) {
      assert.ok(parseJson(nested(63, empty)));
      assert.throws(() => parseJson(nested(64, empty)), /nested more than 64 levels/);
    }
  });
}

test('oneLine keeps joiners and removes control characters', () => {
  assert.ok(isPlainLine('Zoë 👩‍👩‍👧 نمی‌خواهم'));
  for (const bad of ['a\nb', 'a\u0085b', 'a\u202eb', 'a\0b', 'a\u2028b', '\ud800']) {
    assert.ok(!isPlainLine(bad), JSON.stringify(bad));
  }
  assert.equal(oneLine(' How\r\nare\u202e you? '), 'How are you?');
});

/** The first and last character of each range, and their neighbours. */
const edges: [refused: readonly number[], kept: readonly number[]][] = [
  [
    [0x0, 0x1f, 0x7f, 0x9f],
    [0x20, 0x7e, 0xa0],
  ],
  [
    [0x2028, 0x2029, 0x202a, 0x202e],
    [0x2027, 0x202f],
  ],
  [
    [0x2066, 0x2069],
    [0x2065, 0x206a],
  ],
  [
    [0xfdd0, 0xfdef, 0xfffe, 0xffff],
    [0xfdcf, 0xfdf0, 0xfffd],
  ],
];
for (const [refused, kept] of edges) {
  const named = refused.map((code) => `U+${code.toString(16)}`).join(', ');
  test(`a line rejects ${named} and accepts their neighbours`, () => {
    const isKept = (code: number) => isPlainLine(`a${String.fromCodePoint(code)}b`);
    assert.deepEqual(refused.filter(isKept), []);
    assert.deepEqual(
      kept.filter((code) => !isKept(code)),
      [],
    );
  });
}

test('a valid tag is a language', () => {
  for (const tag of ['en', 'pt-BR', 'zh-Hant-TW', 'DE', 'gsw', 'ast', 'rm-CH'])
    assert.ok(isLanguage(tag), tag);
});

test('unknown words and codes are not languages', () => {
  for (const tag of ['english', 'deutsch', 'xx', 'qq-DE', 'e', '', 'und', 'en_US', 'en-', 'x-mine'])
    assert.ok(!isLanguage(tag), tag);
});

test('a tag with extensions is not a language', () => {
  for (const tag of ['en-u-ca-buddhist', 'en-x-a', 'art-x-klingon', 'de-t-en'])
    assert.ok(!isLanguage(tag), tag);
  for (const tag of ['de-1996', 'sr-Latn-RS', 'es-419']) assert.ok(isLanguage(tag), tag);
});

const texts: [text: string, exists: boolean][] = [
  ['2024-02-29', true],
  ['2023-02-29', false],
  ['2024-02-30T12:00:00Z', false],
  ['2024-04-31', false],
  ['2024-01-31T23:59:59.999999+23:59', true],
  ['2024-01-31T25:00:00Z', false],
  ['0000-12-31', false],
  ['0001-01-01T00:00:00Z', false],
  ['0001-01-02', true],
  ['0001-01-02T00:00:00+00:01', false],
  ['9999-12-30', true],
  ['9999-12-30T00:00:00-00:01', false],
  ['9999-12-31', false],
  ['+010000-01-01', false],
  ['now', false],
  ['', false],
];
test('isInCalendar accepts the same days as Postgres', () => {
  for (const [text, exists] of texts) assert.equal(isInCalendar(text), exists, text);
});
