import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fromCheckout } from '../../../src/lib/embedded-postgres/distribution.ts';

test('the files of a Postgres are packed in the order of their paths, so that the same files make the same archive', () => {
  const { files } = fromCheckout().open().manifest;
  const paths = files.map(({ path }) => path);
  assert.ok(paths.length > 100);
  assert.deepEqual(paths, paths.toSorted());
});
