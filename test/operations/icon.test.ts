import assert from 'node:assert/strict';
import { test } from 'node:test';
import { drawIcon } from '../../src/operations/icon.ts';

test('the icon is one picture of 16 by 16 pixels, of one color and without its corners', () => {
  const bytes = drawIcon();
  const view = new DataView(bytes.buffer);
  const [length, start] = [view.getUint32(14, true), view.getUint32(18, true)];
  assert.deepEqual([...bytes.subarray(0, 8)], [0, 0, 1, 0, 1, 0, 16, 16]);
  assert.equal(start + length, bytes.length);
  assert.equal(start, 22, 'right after its entry');
  const [header, pixels, mask] = [40, 16 * 16 * 4, 16 * 4];
  assert.equal(view.getUint32(start, true), header);
  assert.equal(length, header + pixels + mask);
  const colors = Array.from({ length: 16 * 16 }, (_, pixel) =>
    view.getUint32(start + header + pixel * 4, true).toString(16),
  );
  const cut = new Set([0, 15, 240, 255]);
  assert.deepEqual(
    colors,
    colors.map((_, pixel) => (cut.has(pixel) ? '4a5568' : 'ff4a5568')),
  );
  assert.ok(bytes.subarray(start + header + pixels).every((byte) => byte === 0));
});
