import assert from 'node:assert/strict';
import { test } from 'node:test';
import { filesWithoutSpans } from '../bench/without-spans.ts';

test('the build that shows what spans cost finds the lines that it leaves out', () => {
  const files = Object.values(filesWithoutSpans());
  assert.equal(files.length, 2);
  for (const text of files) assert.doesNotMatch(text, /^ *(?:\.use\(traceRequests|acceptTrace)\(/m);
});
