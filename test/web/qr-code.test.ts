import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encode } from 'uqr';
import { QrCode } from '../../src/web/qr-code.tsx';

test('the drawing of a code has each of its dark squares, and no other', () => {
  const text = 'https://askback.example/s/abcdef';
  const { data, size } = encode(text, { border: 2 });
  const drawn = Array.from({ length: size }, () => Array.from({ length: size }, () => false));
  const strokes = String(QrCode({ text, title: 'Code' })).matchAll(/M(\d+) (\d+)h(\d+)v1h-(\d+)z/g);
  for (const [, x, y, there, back] of strokes) {
    assert.equal(there, back);
    drawn[Number(y)]!.fill(true, Number(x), Number(x) + Number(there));
  }
  assert.deepEqual(drawn, data);
});
