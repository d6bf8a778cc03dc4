import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SpanKind } from '@opentelemetry/api';
import { inSpan } from '../../../src/lib/tracing/spans.ts';
import { recordSpans } from '../../support/fakes/tracer.ts';

const trace = '0af7651916cd43dd8448eb211c80319c';
const traceparent = `00-${trace}-b7ad6b7169203331-01`;

test('work within an hour of its cause is part of its trace, later work is linked to it', async (t) => {
  const spans = recordSpans(t);
  const work = { name: 'work', kind: SpanKind.INTERNAL, attributes: {} };
  for (const agoMs of [0, 3_600_000, 3_600_001]) {
    await inSpan(
      { traceparent, agoMs },
      () => work,
      async () => {},
    );
  }
  assert.deepEqual(
    spans.map(({ parentTrace, linkedTraces }) => [parentTrace, linkedTraces]),
    [
      [trace, []],
      [trace, []],
      [undefined, [trace]],
    ],
  );
});
