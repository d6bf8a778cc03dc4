import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openExport } from '../../src/importers/import.ts';
import { delighted, type FileKind } from '../../src/importers/rows.ts';

const open = (
  pieces: readonly string[],
  { name = 'export.csv', as }: { name?: string; as?: FileKind } = {},
) =>
  openExport(
    delighted,
    {
      name,
      encoding: 'UTF-8',
      pieces: async function* () {
        yield* pieces;
      },
    },
    as,
  );

async function read(pieces: readonly string[]) {
  const { plan, rows } = await open(pieces);
  const read: [number, ...string[]][] = [];
  for await (const { line, cells } of rows()) read.push([line, ...cells]);
  return [plan.columns.map(({ name }) => name), ...read];
}

const text = 'sep=;\nScore;Date;Comment\n9;2026-04-01;Good\n3;2026-04-02;"Bad; and\nslow"\n';
const expected = [
  ['Score', 'Date', 'Comment'],
  [3, '9', '2026-04-01', 'Good'],
  [4, '3', '2026-04-02', 'Bad; and\nslow'],
];

test('a file is read the same, in whatever pieces it comes', async () => {
  assert.deepEqual(await read([text]), expected);
  for (let cut = 1; cut < text.length; cut++) {
    assert.deepEqual(await read([text.slice(0, cut), text.slice(cut)]), expected, `cut at ${cut}`);
  }
  assert.deepEqual(await read([...text]), expected);
});

test('the rows of a file can be read again', async () => {
  const { rows } = await open([text]);
  for (const _ of [1, 2]) {
    let count = 0;
    for await (const _row of rows()) count += 1;
    assert.equal(count, 2);
  }
});

test('an empty file is refused, with its name', async () => {
  await assert.rejects(open(['']), { message: 'export.csv is empty. Nothing was imported' });
});

const people = ['Email\nann@people.test\n'];
test('people of a file named for unsubscribes or bounces need a kind', async () => {
  for (const [name, said] of [
    ['/exports/Unsubscribes.csv', 'unsubscribed'],
    ['opt-outs.csv', 'unsubscribed'],
    ['Bounced people.csv', 'bounced'],
  ] as const) {
    await assert.rejects(open(people, { name }), { message: new RegExp(`--as ${said}`) });
    for (const as of ['people', said] as const) {
      assert.equal((await open(people, { name, as })).plan.kind, as);
    }
  }
});

test('a folder says nothing of the people in a file', async () => {
  assert.equal((await open(people, { name: '/bounces/people.csv' })).plan.kind, 'people');
});
