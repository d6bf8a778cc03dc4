import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  readTraceparent,
  spanContextOf,
  traceIdOf,
  traceparentOf,
} from '../../../src/lib/tracing/spans.ts';

const trace = '0af7651916cd43dd8448eb211c80319c';
const span = 'b7ad6b7169203331';
const whole = `00-${trace}-${span}-01`;

const accepted: [string, string, string][] = [
  ['as W3C writes it', whole, whole],
  ['not sampled', `00-${trace}-${span}-00`, `00-${trace}-${span}-00`],
  ['flags that we do not know', `00-${trace}-${span}-03`, whole],
  ['a later version', `cc-${trace}-${span}-01`, whole],
  ['a later version that says more', `cc-${trace}-${span}-01-what-ever`, whole],
];
for (const [what, header, read] of accepted) {
  test(`${what} is accepted`, () => assert.equal(readTraceparent(header), read));
}

const refused: [string, string | undefined][] = [
  ['nothing', undefined],
  ['an empty header', ''],
  ['version ff', `ff-${trace}-${span}-01`],
  ['more in version 00', `${whole}-more`],
  ['two headers', `${whole}, ${whole}`],
  ['capitals', whole.toUpperCase()],
  ['a trace of zeros', `00-${'0'.repeat(32)}-${span}-01`],
  ['a span of zeros', `00-${trace}-${'0'.repeat(16)}-01`],
  ['a trace that is too short', `00-${trace.slice(1)}-${span}-01`],
  ['flags of one digit', `00-${trace}-${span}-1`],
  ['a later version that runs on', `cc-${trace}-${span}-01more`],
  ['space around it', ` ${whole} `],
];
for (const [what, header] of refused) {
  test(`${what} is not a traceparent`, () => assert.equal(readTraceparent(header), null));
}

test('a traceparent survives parsing and formatting', () => {
  for (const text of [whole, `00-${trace}-${span}-00`]) {
    assert.equal(traceparentOf(spanContextOf(text)), text);
  }
});

test('a traceparent has trace id, span id and sampled flag', () => {
  assert.equal(traceIdOf(whole), trace);
  assert.equal(traceIdOf(null), null);
  const context = { traceId: trace, spanId: span, isRemote: true };
  assert.deepEqual(spanContextOf(whole), { ...context, traceFlags: 1 });
  assert.deepEqual(spanContextOf(`00-${trace}-${span}-00`), { ...context, traceFlags: 0 });
});
