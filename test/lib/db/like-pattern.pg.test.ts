import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { likePattern } from '../../../src/lib/db/db.ts';
import { testDatabase } from '../../support/probe/database.ts';

const { db } = await testDatabase();

test('likePattern matches special characters literally', async () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'B', '%', '_', '\\', '.'), maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(text, text), { minLength: 100 }), async (pairs) => {
      const rows = await db<{ found: boolean }[]>`
        select said ilike pattern as found
        from unnest(${pairs.map(([said]) => said)}::text[],
                    ${pairs.map(([, wanted]) => likePattern(wanted))}::text[])
          with ordinality as t (said, pattern, place)
        order by place`;
      assert.deepEqual(
        rows.map(({ found }) => found),
        pairs.map(([said, wanted]) => said.toLowerCase().includes(wanted.toLowerCase())),
      );
    }),
    { numRuns: 20 },
  );
});
