import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inAscii } from '../../ops/build/ascii.ts';

const programs = [
  '/^[-–—]$/.test("–")',
  '"a–b’s".split(/[\\-\\–\\—]/).length',
  '"x".replace(/\\’s$|\\\'s$/, "")',
  'new RegExp(String.raw`[^\\s@＠“\\”]`).test("＠")',
  'new RegExp(String.raw`\\\\–`).test("\\\\–")',
  '/^\\\\–$/.test("\\\\–")',
  '/^[😀é]$/u.test("😀")',
  '/a😀/.exec("a😀")[0].length',
  '1 // request’s body is \\“null” 😀\n + 2',
];

for (const program of programs) {
  test(`inAscii keeps the result of ${program}`, () => {
    const ascii = inAscii(withEscapedStrings(program));
    assert.match(ascii, /^[\0-\x7f]*$/);
    const run = (text: string): unknown => Function(`return ${text}`)();
    assert.deepEqual(run(ascii), run(program));
  });
}

/** Escapes strings like the bundler. */
function withEscapedStrings(program: string): string {
  return program.replaceAll(/"[^"]*"/g, (text) =>
    text.replaceAll(
      /[^\0-\x7f]/g,
      (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
    ),
  );
}
