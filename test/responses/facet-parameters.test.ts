import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseFiltered } from '../../src/responses/filter.ts';
import { NpsQuery } from '../../src/responses/schemas.ts';

test('accepts at most ten tags, properties and sentiments', () => {
  const queries = (properties: number) => ({
    'property.plan': Array.from({ length: properties }, (_, at) => `plan ${at}`),
    tag: ['0a8e4c1e-6f6e-4a34-9f35-3d4a1f3f8f10'],
    sentiment: ['negative'],
  });
  assert.equal(parseFiltered(NpsQuery, queries(8)).facets.length, 10);
  assert.throws(() => parseFiltered(NpsQuery, queries(9)), {
    message: /^use at most 10 filters/,
  });
});
