import assert from 'node:assert/strict';
import { test } from 'node:test';
import { maxLogoBytes, readLogo } from '../../src/organizations/logo.ts';

function png(width: number, height: number, bytes = 100): Buffer {
  const picture = Buffer.alloc(bytes);
  picture.write('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1');
  picture.writeUInt32BE(width, 16);
  picture.writeUInt32BE(height, 20);
  return picture;
}

for (const [what, picture, complaint] of [
  ['256 KiB', png(100, 100, maxLogoBytes), null],
  ['a byte more', png(100, 100, maxLogoBytes + 1), /at most 256 KiB/],
  ['2000 pixels', png(2000, 1), null],
  ['2001 pixels', png(16, 2001), /at most 2000 pixels/],
  ['an SVG', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), /PNG, JPEG or WebP/],
] as const) {
  test(`readLogo ${complaint ? 'rejects' : 'accepts'} ${what}`, () => {
    if (!complaint) return assert.match(readLogo(picture).name, /\.png$/);
    assert.throws(() => readLogo(picture), { code: 'invalid_logo', message: complaint });
  });
}
