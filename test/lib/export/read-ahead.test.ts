import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import {
  answerExport,
  type FileText,
  type ListRange,
  type ListReader,
  readAhead,
} from '../../../src/lib/export/export.ts';

const rowsOfRange = 2;
const longestRange = 4;

/** A list of numbers that counts up. A read goes on when the test says so; `began` has the first row after each. */
function makeList(rows: number[], { byHand = false } = {}) {
  const began: { after: number | null; resume: () => void; fail: (error: Error) => void }[] = [];
  let [underWay, most, divisions] = [0, 0, 0];
  let reader: ListReader | undefined;
  const within = ({ after, until }: ListRange<number>) =>
    rows.filter((row) => row > (after ?? -Infinity) && row <= (until ?? Infinity));
  const list = {
    async read(range: ListRange<number>, given: ListReader) {
      reader = given;
      most = Math.max(most, ++underWay);
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      began.push({ after: range.after, resume: resolve, fail: reject });
      if (!byHand || range.after === null) resolve();
      await promise.finally(() => underWay--);
      const found = within(range).slice(0, longestRange);
      const last = found.length === longestRange ? found.at(-1) : undefined;
      return { text: found.map((row) => `${row} `).join(''), last };
    },
    async divide(after: number, many: number) {
      divisions++;
      const later = within({ after, until: null });
      return later.filter((_, at) => (at + 1) % rowsOfRange === 0).slice(0, many);
    },
  };
  const counts = () => ({ reads: began.length, most, divisions });
  return { parts: readAhead(list), began, counts, isGone: () => reader!.isGone() };
}

const numbers = (many: number) => Array.from({ length: many }, (_, at) => at + 1);

async function all(parts: AsyncGenerator<FileText>) {
  let text = '';
  for await (const part of parts) text += part;
  return text.split(' ').slice(0, -1).map(Number);
}

test('a list of any length is read whole and in its order, at most two ranges at a time', async () => {
  for (const many of [0, 1, 3, 4, 5, 6, 7, 35, 36, 37, 68, 69, 100, 999]) {
    const { parts, counts } = makeList(numbers(many));
    assert.deepEqual(await all(parts), numbers(many), `${many} rows`);
    assert.ok(counts().most <= 2);
  }
});

test('a list that fits one range costs one read', async () => {
  const { parts, counts } = makeList(numbers(3));
  await all(parts);
  assert.deepEqual(counts(), { reads: 1, most: 1, divisions: 0 });
});

test('two ranges are read at a time, and the later one waits for its turn', async () => {
  const { parts, began } = makeList(numbers(20), { byHand: true });
  assert.equal((await parts.next()).value, '1 2 3 4 ');
  const second = parts.next();
  await setImmediate();
  assert.deepEqual(
    began.map(({ after }) => after),
    [null, 4, 6],
  );
  began[2]!.resume();
  await setImmediate();
  began[1]!.resume();
  assert.equal((await second).value, '5 6 ');
  assert.equal((await parts.next()).value, '7 8 ');
  await parts.return(undefined);
});

test('while its reader takes nothing no more than two further ranges are read', async () => {
  const { parts, counts } = makeList(numbers(999));
  await parts.next();
  await parts.next();
  for (let turn = 0; turn < 50; turn++) await setImmediate();
  const { reads, divisions } = counts();
  assert.deepEqual({ reads, divisions }, { reads: 4, divisions: 2 });
});

test('once its reader has gone nothing more is read, and reads that wait can see it', async () => {
  const { parts, counts, began, isGone } = makeList(numbers(999), { byHand: true });
  await parts.next();
  await setImmediate();
  assert.equal(isGone(), false);
  await parts.return(undefined);
  assert.equal(isGone(), true);
  const { reads } = counts();
  began[1]!.resume();
  began[2]!.fail(new Error('its turn never came'));
  for (let turn = 0; turn < 20; turn++) await setImmediate();
  assert.equal(counts().reads, reads);
});

test('a file whose caller has gone is read no further', async () => {
  const { parts, counts, isGone } = makeList(numbers(999));
  const body = answerExport('csv', { name: 'numbers', parts }).body!.getReader();
  assert.equal(new TextDecoder().decode((await body.read()).value), '1 2 3 4 ');
  await body.cancel();
  assert.equal(isGone(), true);
  const { reads } = counts();
  for (let turn = 0; turn < 20; turn++) await setImmediate();
  assert.equal(counts().reads, reads);
});

test('rows that come into ranges before they are read are read in their places, however many', async () => {
  const rows = numbers(40);
  const { parts } = makeList(rows);
  let found = (await parts.next()).value as string;
  const late = numbers(30).map((n) => 20 + n / 100);
  rows.push(...late);
  rows.sort((one, other) => one - other);
  for await (const part of parts) found += part;
  assert.deepEqual(found.split(' ').slice(0, -1).map(Number), rows);
});

test('a read that fails ends the list in its turn, after all that comes before it', async () => {
  const { parts, began } = makeList(numbers(20), { byHand: true });
  await parts.next();
  const second = parts.next();
  await setImmediate();
  began[2]!.fail(new Error('away'));
  began[1]!.resume();
  assert.equal((await second).value, '5 6 ');
  await assert.rejects(parts.next(), /away/);
});
