import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLog, type Fields, terminalLine } from '../../../src/lib/log/log.ts';
import { quietLogger } from '../../../src/lib/queue/runner.ts';

function logged(
  act: (log: ReturnType<typeof createLog>) => void,
  level: 'info' | 'debug' = 'info',
) {
  const lines: string[] = [];
  act(createLog({ level, to: { write: (line) => void lines.push(line) } }));
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

test('an unlisted field does not reach the log', () => {
  const fields = { email: 'anna@example.org', status: 200 } as Fields;
  const [line] = logged((log) => log.info(fields, 'request'));
  assert.deepEqual([line!['status'], 'email' in line!], [200, false]);
});

const quoting: [string, string][] = [
  ['invalid input syntax for type uuid: "anna-geheim"', 'invalid input syntax for type uuid: "…"'],
  ['relation "responses" does not exist', 'relation "responses" does not exist'],
  ['550 5.1.1 <anna@example.org>: no such user', '550 5.1.1 <…>: no such user'],
  [
    `Unexpected token 'A', "Anna says" is not valid JSON`,
    'Unexpected token "…", "…" is not valid JSON',
  ],
  [
    'invalid input syntax for type uuid: "anna "geheim" x"',
    'invalid input syntax for type uuid: "…"',
  ],
  [
    `Expected ',' or '}' after property value in JSON at position 9, ..."name":"Anna geheim"... is not valid JSON`,
    'Expected "…" or "…" after property value in JSON at position 9, "…" is not valid JSON',
  ],
  ['key ask_live_Ab12Cd34_9f8Zq1Xw7Lk refused', 'key … refused'],
  [
    'row 018f7c1e-0000-7000-8000-0123456789ab is gone',
    'row 018f7c1e-0000-7000-8000-0123456789ab is gone',
  ],
  [`a word of ${'a1'.repeat(10)} is one of 20 letters`, 'a word of … is one of 20 letters'],
  [`${'a1'.repeat(9)}a is one of 19 letters`, `${'a1'.repeat(9)}a is one of 19 letters`],
  [`${'a'.repeat(30)} has no number`, `${'a'.repeat(30)} has no number`],
  [`${'1'.repeat(30)} has no letter`, `${'1'.repeat(30)} has no letter`],
  [`${'a '.repeat(497)}"quote`, `${'a '.repeat(497)}"quote`],
  [`${'a '.repeat(497)}"quoted`, `${'a '.repeat(497)}…`],
];
for (const [message, kept] of quoting) {
  test(`logs ${message.slice(-120)} as ${kept.slice(-120)}`, () => {
    const [line] = logged((log) => log.error({ err: new Error(message) }, 'fault'));
    assert.equal((line!['err'] as { message: string }).message, kept);
    assert.ok(!JSON.stringify(line).includes('geheim'));
  });
}

test('logs an error that is its own cause or looks like stack frames', () => {
  const error: Error = new Error('unknown word\n    at Anna geheim');
  error.cause = error;
  const [line] = logged((log) => log.error({ err: error }, 'fault'));
  const { message, stack } = line!['err'] as { message: string; stack: string };
  assert.match(message, /^unknown word/);
  assert.doesNotMatch(stack, /geheim/);
});

test('removes values from messages of the queue', () => {
  const said = 'Error occurred fetching jobs. Error: invalid input: "anna-geheim"';
  const [warned] = logged((log) => quietLogger(log).error(said));
  const [mentioned] = logged((log) => quietLogger(log).warn(said), 'debug');
  assert.equal(warned!['msg'], 'Error occurred fetching jobs. Error: invalid input: "…"');
  assert.equal(mentioned!['msg'], warned!['msg']);
});

test('logs code, stack and cause, but no detail of Postgres', () => {
  const cause = Object.assign(new Error('broken'), { code: 'ECONNRESET' });
  const error = Object.assign(new Error('duplicate key', { cause }), {
    code: '23505',
    detail: 'Key (email)=(anna@example.org) already exists.',
  });
  const [line] = logged((log) => log.error({ err: error }, 'fault'));
  const err = line!['err'] as { code: string; stack: string; cause: { code: string } };
  assert.deepEqual([err.code, err.cause.code], ['23505', 'ECONNRESET']);
  assert.match(err.stack, /^\s+at .*log\.test\.ts/);
  assert.ok(!JSON.stringify(line).includes('anna@'));
});

test('terminal lines are plain text with the error below', () => {
  const json = JSON.stringify({
    level: 'error',
    time: '2026-01-02T03:04:05.000Z',
    task: 'keys.clean_up',
    err: { type: 'Error', code: 'X1', message: 'no', stack: '    at here' },
    msg: 'failed',
  });
  const text = terminalLine(json, { colors: false });
  assert.match(
    text,
    /^\d\d:\d\d:\d\d error failed task=keys\.clean_up\n {2}Error X1: no\n {4}at here\n$/,
  );
});
