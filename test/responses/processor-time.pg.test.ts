import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createBuiltinAnalyst } from '../../src/summaries/builtin.ts';
import { analyze } from '../../src/summaries/comment-reader.ts';
import { createTextReader } from '../../src/text-reader.ts';
import { makeFeedback, readingTools } from '../support/make/feedback.ts';
import { ask, asPerson, visitor } from '../support/probe/ask.ts';
import { testDatabase } from '../support/probe/database.ts';
import { leastCost, readerOfThisThread } from '../support/probe/processor-time.ts';

/** No input may cost the thread that serves everybody more than this. */
const mostMs = 25;

const { db } = await testDatabase();
const reader = createTextReader();
const { request } = visitor(db, { excerpt: reader.excerpt });
test.after(reader.stop);

const times = (piece: string, length: number) =>
  piece.repeat(Math.ceil(length / piece.length)).slice(0, length);

/** Pieces that made a recognizer, a pattern or a parser slow, alone or repeated. */
const pieces = [
  'St. ',
  'St. St ',
  'st. ',
  'Ave. ',
  'Rd. ',
  'Dr. ',
  'St. John ',
  'no. ',
  'Jan. ',
  'Gov. ',
  'a\n',
  "a's ",
  "don't ",
  'a, ',
  'a-b-',
  'A.B.C.',
  '...',
  '--',
  '*',
  '#',
  '://',
  'http://',
  'http://a.b/',
  'www.',
  '@',
  'a@',
  'a (at) b (dot) ',
  'a [',
  '[name] ',
  '[na',
  '(',
  '+((1',
  '1 ',
  '1',
  '1234567890',
  '1.1.',
  'a',
  'Ab-',
  'Anna Maria Schmidt Berlin Zorro Kallax Quirin ',
  'it’s “o’clock” ’tis ',
  '😀',
  '👩‍👩‍👧',
  'e\u0301',
  '\u0301',
  'a\u200b',
  'a\u200d',
  'ﷺ',
  '王',
  'ا\u200c',
];

const json = { 'Content-Type': 'application/json', Accept: 'application/json' };
const keys = (count: number) =>
  `{${Array.from({ length: count }, (_, at) => `"k${at}":1`).join(',')}}`;

type Input = { path: string; headers: Record<string, string>; body?: string | URLSearchParams };

const form = (path: string, comment: string): Input => ({
  path,
  headers: asPerson,
  body: new URLSearchParams({ score: '0', comment }),
});

/** What a stranger may send to a link, or to an address that looks like one. */
const strange = (path: string): [why: string, input: Input][] => [
  ['64 KiB of JSON keys', { path, headers: json, body: keys(5_600) }],
  ['64 KiB of nested JSON', { path, headers: json, body: '['.repeat(65_000) }],
  ['64 KiB of a JSON string', { path, headers: json, body: `"${'\\u0041'.repeat(10_000)}"` }],
  [
    '64 KiB of fields',
    { path, headers: asPerson, body: new URLSearchParams('a=1&'.repeat(16_000)) },
  ],
  ['64 KiB of %41', { path, headers: asPerson, body: `a=${'%41'.repeat(21_000)}` }],
  ['1 MiB', { path, headers: json, body: keys(90_000) }],
  [
    'a long Accept-Language',
    { path, headers: { ...asPerson, 'Accept-Language': times('a-b,', 15_000) } },
  ],
  ['a long Accept', { path, headers: { Accept: times('a/b;q=0.1,', 15_000) } }],
  ['a long Cookie', { path, headers: { ...asPerson, Cookie: times('a=b; ', 15_000) } }],
  ['a long score', { path: `${path}?score=${times('9', 15_000)}`, headers: asPerson }],
];

const costOf = (inputs: () => Promise<Input>) =>
  leastCost(mostMs, async () => {
    const { path, headers, body } = await inputs();
    const init = body === undefined ? { headers } : { method: 'POST', headers, body };
    const timer = readerOfThisThread();
    await (await request(path, init)).arrayBuffer();
    return timer.ms();
  });

test('no comment costs the serving thread much, on a personal or a shareable link', async (t) => {
  let worst = { ms: 0, piece: '' };
  for (const piece of pieces) {
    for (const link of ['personal', 'shared'] as const) {
      const ms = await costOf(async () => form((await ask(db))[link], times(piece, 5000)));
      if (ms > worst.ms) worst = { ms, piece };
      assert.ok(ms < mostMs, `${JSON.stringify(piece)} costs ${ms.toFixed(1)} ms`);
    }
  }
  t.diagnostic(`the dearest comment: ${worst.ms.toFixed(1)} ms, ${JSON.stringify(worst.piece)}`);
});

test('no comment put together from such pieces does', async () => {
  const comment = fc
    .array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 6 })
    .map((some) => times(some.join(''), 5000));
  await fc.assert(
    fc.asyncProperty(comment, async (text) => {
      const ms = await costOf(async () => form((await ask(db)).personal, text));
      assert.ok(ms < mostMs, `${ms.toFixed(1)} ms`);
    }),
    { numRuns: 30 },
  );
});

test('the analysis of no comment does', async () => {
  const org = await makeFeedback(db);
  const analyst = createBuiltinAnalyst(reader.analyze);
  const tools = { ...readingTools(db, analyst), redact: reader.redact };
  let analyzed = 0;
  for (const piece of pieces) {
    const ms = await leastCost(mostMs, async () => {
      const response_id = await org.answer(0, times(piece, 5000), '2026-05-02');
      const timer = readerOfThisThread();
      await analyze(tools, { org_id: org.id, response_id, tries: 0 });
      analyzed += 1;
      return timer.ms();
    });
    assert.ok(ms < mostMs, `${JSON.stringify(piece)} costs ${ms.toFixed(1)} ms`);
  }
  assert.equal((await org.analyses()).length, analyzed);
});

test('nothing else that a stranger may send to a link, or to no link, does', async () => {
  const { personal, shared } = await ask(db);
  for (const path of [personal, shared, '/s/none', '/f/none', '/u/none']) {
    for (const [why, input] of strange(path)) {
      const ms = await costOf(async () => input);
      assert.ok(ms < mostMs, `${why} at ${path} costs ${ms.toFixed(1)} ms`);
    }
  }
});

test('a comment that the thread does not read in time costs no more', async () => {
  const run = () => Promise.reject(new Error('no thread'));
  const without = createTextReader(undefined, { run, stop: async () => {} });
  const known = { orgId: 'acme', names: ['Ann Miller', '王伟'], emails: ['ann@acme.test'] };
  for (const piece of pieces) {
    for (const read of [without.excerpt, without.redact]) {
      const ms = await leastCost(mostMs, async () => {
        const timer = readerOfThisThread();
        await read(times(piece, 5000), known);
        return timer.ms();
      });
      assert.ok(ms < mostMs, `${JSON.stringify(piece)} costs ${ms.toFixed(1)} ms`);
    }
  }
});
