import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type CsvRow, csvRowsInParts } from '../../../src/lib/cli/csv.ts';

const options = { delimiter: ',', firstLine: 1 };

async function read(pieces: Iterable<string>, { firstLine = 1 } = {}): Promise<CsvRow[]> {
  const rows: CsvRow[] = [];
  for await (const some of csvRowsInParts(pieces, { ...options, firstLine })) rows.push(...some);
  return rows;
}

test('CSV rows do not depend on where the text is cut', async () => {
  const text = 'email,name\nann@people.test,"Ann\nof ""two"" lines"\n\n😀,,\nbob@people.test,Bob';
  const whole = await read([text.replace(',,', ',')]);
  assert.deepEqual(
    whole.map(({ line, cells }) => [line, ...cells]),
    [
      [1, 'email', 'name'],
      [2, 'ann@people.test', 'Ann\nof "two" lines'],
      [5, '😀', ''],
      [6, 'bob@people.test', 'Bob'],
    ],
  );
  const cut = [...text.replace(',,', ',')];
  assert.deepEqual(await read(cut), whole);
});

test('line ends do not depend on where the text is cut', async () => {
  const text = 'a,b\r\n1,"2\r\n3"\r4,5\r\r\n6,7';
  const rows = [
    { line: 1, cells: ['a', 'b'] },
    { line: 2, cells: ['1', '2\n3'] },
    { line: 4, cells: ['4', '5'] },
    { line: 6, cells: ['6', '7'] },
  ];
  assert.deepEqual(await read([text]), rows);
  assert.deepEqual(await read([...text]), rows);
});

test('line numbers start at the first line, without byte order mark', async () => {
  const rows = await read(['\ufeffemail,name\nann@people.test,Ann'], { firstLine: 2 });
  assert.deepEqual(rows, [
    { line: 2, cells: ['email', 'name'] },
    { line: 3, cells: ['ann@people.test', 'Ann'] },
  ]);
});

test('parsing a long list does not block other work', async () => {
  let turns = 0;
  let isOn = true;
  const count = () => {
    turns += 1;
    if (isOn) setImmediate(count);
  };
  setImmediate(count);
  const text = 'person@people.test,Person\n'.repeat(40_000);
  let largest = 0;
  for await (const rows of csvRowsInParts([text], options))
    largest = Math.max(largest, rows.length);
  isOn = false;
  assert.ok(turns >= text.length / 16_384, `${turns} turns`);
  assert.ok(largest < 1000, `${largest} rows at once`);
});

test('a line above 1 MiB is refused, even of empty values', async () => {
  const refused = /^the file is not CSV: line 3: the row is too long/;
  for (const piece of ['x', ',', '"a",']) {
    const part = piece.repeat(4096);
    let given = 0;
    const pieces = function* () {
      yield 'email,name\n\n';
      for (; given < 8 * 1024 * 1024; given += part.length) yield part;
    };
    await assert.rejects(read(pieces()), { kind: 'invalid', message: refused });
    assert.ok(given < 1.1 * 1024 * 1024, `${JSON.stringify(piece)}: read ${given}`);
  }
  const rows = await read([
    'email,name\n',
    '\n'.repeat(2 * 1024 * 1024),
    ',\n'.repeat(600_000),
    'a,b',
  ]);
  assert.equal(rows.length, 2);
});
