import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressPattern } from '../../src/lib/smtp/address.ts';
import { hideAddress } from '../../src/responses/erase.ts';
import { makeOrganization, makeResponse, makeSurvey } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();
const key = 'ada@people.test';

/** An organization whose responses have comments and notes from before and after a time. */
async function scene() {
  const org_id = await makeOrganization(db);
  const of = { org_id, survey_id: await makeSurvey(db, org_id) };
  for (const [created_at, text] of [
    ['2026-01-01', `write to Ada@People.test`],
    ['2026-01-02', `xada@people.test is another`],
    ['2026-03-01', `or ${key}, later`],
  ] as const) {
    const response_id = await makeResponse(db, of, { created_at, comment: text });
    const note = { org_id, response_id, created_at, author: 'ann', author_kind: 'member' };
    await db`insert into response_notes ${db([
      { ...note, text },
      { ...note, text: `again ${text}` },
    ])}`;
  }
  return org_id;
}

async function textsOf(org: string) {
  const rows = await db<{ text: string }[]>`
    select comment as text, created_at, 0 as kind from responses where org_id = ${org}
    union all
    select text, created_at, 1 from response_notes where org_id = ${org}
    order by created_at, kind, text`;
  return rows.map(({ text }) => text);
}

const hidden = ['write to [email]', 'again write to [email]', 'write to [email]'];
const ofAnother = ['xada@people.test is another', 'again xada@people.test is another'];
const another = [ofAnother[0], ofAnother[1], ofAnother[0]];
const cases: { before: string | null; count: number; last: string[] }[] = [
  { before: null, count: 6, last: ['or [email], later', 'again or [email], later'] },
  { before: '2026-03-01T00:00Z', count: 3, last: [`or ${key}, later`, `again or ${key}, later`] },
];
for (const { before, count, last } of cases) {
  test(`an erasure ${before ? 'up to a time' : 'of all time'} hides an address in comments and notes`, async () => {
    const [org, other] = [await scene(), await scene()];
    const untouched = await textsOf(other);
    assert.equal(await hideAddress(db, org, { key, before: before as never }), count);
    assert.deepEqual(await textsOf(org), [...hidden, ...another, last[0], last[1], last[0]]);
    assert.deepEqual(await textsOf(other), untouched);
  });
}

test('Postgres and the service find the same addresses in texts', async () => {
  const [ascii, odd] = [
    Array.from({ length: 94 }, (_, n) => String.fromCharCode(n + 33)),
    'a+b.c@x-y.test',
  ];
  const isWord = (text: string) => /^[A-Za-z0-9]$/.test(text);
  const cases = ascii.flatMap((other) => [
    { text: `${other}${odd}`, isOther: isWord(other) || '._%+-'.includes(other) },
    { text: `${odd}${other}`, isOther: isWord(other) || other === '-' },
    { text: `${odd}.${other}`, isOther: isWord(other) },
    {
      text: `\\${other}${odd}`,
      isOther: !'bfnrt'.includes(other.toLowerCase()) && (isWord(other) || '._%+-'.includes(other)),
    },
    { text: odd.replace('+', other), isOther: other !== '+' },
    { text: odd.replaceAll('.', other), isOther: other !== '.' },
  ]);
  const texts = cases.map(({ text }) => text);
  const hidden = await db<{ text: string }[]>`
    select hide_address(text, ${odd}) as text
    from unnest(${texts}::text[]) with ordinality as given (text, n)
    order by n`;
  const wanted = cases.map(({ text, isOther }) => (isOther ? text : text.replace(odd, '[email]')));
  assert.deepEqual(
    hidden.map(({ text }) => text),
    wanted,
  );
  const pattern = new RegExp(addressPattern(odd), 'gi');
  assert.deepEqual(
    texts.map((text) => text.replace(pattern, '[email]')),
    wanted,
  );
});
