import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from '../../src/lib/validation/parse.ts';
import { NpsQuery, TrendQuery } from '../../src/responses/schemas.ts';

const said: [schema: typeof NpsQuery | typeof TrendQuery, given: object, complaint: string][] = [
  [NpsQuery, { audience: 'both' }, 'audience: must be employee or customer'],
  [NpsQuery, { type: 'stars' }, 'type: must be nps, csat, ces, star5 or thumbs'],
  [NpsQuery, { sentiment: 'sad' }, 'sentiment: must be positive, neutral, negative or mixed'],
  [TrendQuery, { interval: 'year' }, 'interval: must be day, week or month'],
];
for (const [schema, given, message] of said) {
  test(`a parameter that takes one of several words names all of them: ${message}`, () => {
    assert.throws(() => parse(schema, given), { kind: 'invalid', message });
  });
}
