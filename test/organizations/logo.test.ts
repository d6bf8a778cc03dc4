import assert from 'node:assert/strict';
import { test } from 'node:test';
import { complainOfLogo, readLogo } from '../../src/organizations/logo.ts';

const png = (width: number, height: number) => ({ type: 'image/png', width, height }) as const;
const tooLarge = 'the logo must have at most 256 KiB';
const tooWide = 'the logo must be at most 2000 pixels wide and high';
const tooSmall = 'the logo must be at least 16 pixels wide and high';

const logos: [size: number, sides: [number, number], complaint: string | null][] = [
  [262_144, [100, 100], null],
  [262_145, [100, 100], tooLarge],
  [100, [2000, 16], null],
  [100, [16, 2000], null],
  [100, [2001, 16], tooWide],
  [100, [16, 2001], tooWide],
  [100, [15, 2000], tooSmall],
  [100, [2000, 15], tooSmall],
];
for (const [size, [width, height], complaint] of logos) {
  test(`a logo of ${size} bytes and ${width} by ${height} pixels: ${complaint ?? 'taken'}`, () =>
    assert.equal(complainOfLogo({ size, header: png(width, height) }), complaint));
}

test('a picture of 256 KiB is read as a logo, and not one of a byte more', () => {
  const start = Buffer.from(
    '\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x40\0\0\0\x20\x08\x06\0\0\0',
    'latin1',
  );
  const picture = (bytes: number) => Buffer.concat([start], bytes);
  assert.match(readLogo(picture(262_144)).name, /\.png$/);
  assert.throws(() => readLogo(picture(262_145)), { message: tooLarge });
});
