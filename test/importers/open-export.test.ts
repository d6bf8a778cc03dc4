import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openExport } from '../../src/importers/import.ts';
import { delighted, type FileKind } from '../../src/importers/rows.ts';

const open = (text: string, { name = 'export.csv', as }: { name?: string; as?: FileKind } = {}) =>
  openExport(delighted, { name, pieces: () => [text] }, as);

const text = 'sep=;\nScore;Date;Comment\n9;2026-04-01;Good\n3;2026-04-02;"Bad; and\nslow"\n';

test('sep= line sets the delimiter and the first line', async () => {
  const { plan, rows } = await open(text);
  assert.deepEqual(
    plan.columns.map(({ name }) => name),
    ['Score', 'Date', 'Comment'],
  );
  const lines: object[] = [];
  for await (const row of rows()) lines.push(row);
  assert.deepEqual(lines, [
    { line: 3, cells: ['9', '2026-04-01', 'Good'] },
    { line: 4, cells: ['3', '2026-04-02', 'Bad; and\nslow'] },
  ]);
});

test('rows of an export can be read twice', async () => {
  const { rows } = await open(text);
  for (const _ of [1, 2]) {
    let count = 0;
    for await (const _row of rows()) count += 1;
    assert.equal(count, 2);
  }
});

test('empty file is refused with its name', async () => {
  await assert.rejects(open(''), { message: 'export.csv is empty. Nothing was imported' });
});

const people = 'Email\nann@people.test\n';
test('file named for unsubscribes or bounces needs a kind', async () => {
  for (const [name, said] of [
    ['/exports/Unsubscribes.csv', 'unsubscribed'],
    ['opt-outs.csv', 'unsubscribed'],
    ['Bounced people.csv', 'bounced'],
  ] as const) {
    await assert.rejects(open(people, { name }), {
      message: new RegExp(`${said} if all of them did`),
    });
    for (const as of ['people', said] as const) {
      assert.equal((await open(people, { name, as })).plan.kind, as);
    }
  }
});

test('folder name does not determine the kind of a file', async () => {
  assert.equal((await open(people, { name: '/bounces/people.csv' })).plan.kind, 'people');
});
