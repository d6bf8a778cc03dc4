import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as v from 'valibot';
import { Lines, Slug } from '../../src/organizations/manage.ts';

const lines = (count: number) => Array.from({ length: count }, (_, n) => `${n}`).join('\n');
const texts: [what: string, given: string, kept: string | null | RegExp][] = [
  ['nothing', ' \r\n ', null],
  ['lines of every kind', ' 1 Quay \r\n Oslo\rNorway\n', '1 Quay\nOslo\nNorway'],
  ['eight lines', lines(8), lines(8)],
  ['eight lines between empty ones', `\n${lines(8)}\n\n`, lines(8)],
  ['nine lines', lines(9), /^must be at most 8 lines$/],
  ['500 characters', '😀'.repeat(500), '😀'.repeat(500)],
  ['501 characters', 'x'.repeat(501), /^must be at most 500 characters$/],
  ['a tab', 'a\tb', /^must be text without control characters$/],
];

for (const [what, given, kept] of texts) {
  test(`the schema ${kept instanceof RegExp ? 'rejects' : 'accepts'} ${what}`, () => {
    const { output, issues } = v.safeParse(Lines, given);
    if (kept instanceof RegExp) assert.match(issues![0].message, kept);
    else assert.deepEqual([issues, output], [undefined, kept]);
  });
}

const slugs = [
  [' Acme-2 ', 'acme-2'],
  ['a'.repeat(80), 'a'.repeat(80)],
  ['a'.repeat(81), null],
  ['a--b', null],
  ['-a', null],
  ['ä', null],
] as const;

for (const [given, kept] of slugs) {
  test(`Slug ${kept ? 'accepts' : 'rejects'} ${JSON.stringify(given.slice(0, 12))}`, () => {
    const { success, output } = v.safeParse(Slug, given);
    assert.equal(success ? output : null, kept);
  });
}
