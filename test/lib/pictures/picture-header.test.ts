import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readPictureHeader } from '../../../src/lib/pictures/picture-header.ts';

const latin = (text: string) => Buffer.from(text, 'latin1');

function png(width: number, height: number): Buffer {
  const size = Buffer.alloc(8);
  size.writeUInt32BE(width, 0);
  size.writeUInt32BE(height, 4);
  const start = latin('\x89PNG\r\n\x1a\n\0\0\0\rIHDR');
  return Buffer.concat([start, size, latin('\x08\x06\0\0\0')]);
}

const jpeg = Buffer.concat([
  latin('\xff\xd8\xff\xe0\0\x04ab'), // a segment before the frame, whose content is skipped
  latin('\xff\xff\xc2\0\x11\x08\x01\x02\x03\x04'),
]);

const riff = (chunk: string, rest: Buffer) =>
  Buffer.concat([latin(`RIFF\0\0\0\0WEBP${chunk}\0\0\0\0`), rest]);

const lossless = Buffer.alloc(5);
lossless.writeUInt8(0x2f, 0);
lossless.writeUInt32LE((100 - 1) | ((50 - 1) << 14), 1);

for (const [name, bytes, expected] of [
  ['PNG', png(640, 480), { type: 'image/png', width: 640, height: 480 }],
  ['JPEG', jpeg, { type: 'image/jpeg', width: 0x304, height: 0x102 }],
  ['WebP with alpha', riff('VP8X', latin('\0\0\0\0\x63\0\0\x31\0\0')), webp(100, 50)],
  ['lossless WebP', riff('VP8L', lossless), webp(100, 50)],
  ['lossy WebP', riff('VP8 ', latin('\0\0\0\x9d\x01\x2a\x64\0\x32\0')), webp(100, 50)],
] as const) {
  test(`reads the size of a ${name}`, () => {
    assert.deepEqual(readPictureHeader(bytes), expected);
  });

  test(`a truncated ${name} is not recognized and does not throw`, () => {
    for (let length = 0; length < Math.min(bytes.length, 24); length++) {
      const header = readPictureHeader(bytes.subarray(0, length));
      assert.ok(header === undefined || length >= 20, String(length));
    }
  });
}

test('reads the size of a JPEG only from a frame segment', () => {
  const other = new Set([0xc4, 0xc8, 0xcc]);
  for (let marker = 0xbf; marker <= 0xd0; marker++) {
    const bytes = Buffer.from(jpeg);
    bytes.writeUInt8(marker, bytes.indexOf(0xc2));
    const isFrame = marker >= 0xc0 && marker <= 0xcf && !other.has(marker);
    assert.equal(readPictureHeader(bytes) !== undefined, isFrame, marker.toString(16));
  }
});

for (const [name, bytes] of [
  ['an SVG', latin('<svg xmlns="http://www.w3.org/2000/svg"/>')],
  ['a GIF', latin('GIF89a\x01\0\x01\0')],
  ['a page', latin('<!doctype html>')],
  ['a PNG without pixels', png(0, 10)],
  ['a PNG without lines', png(10, 0)],
  ['a JPEG without a frame', latin('\xff\xd8\xff\xd9')],
  ['nothing', Buffer.alloc(0)],
] as const) {
  test(`${name} is not recognized`, () => {
    assert.equal(readPictureHeader(bytes), undefined);
  });
}

function webp(width: number, height: number) {
  return { type: 'image/webp', width, height };
}
