export type PictureHeader = {
  type: 'image/png' | 'image/jpeg' | 'image/webp';
  width: number;
  height: number;
};

/** Reads type and size without decoding. Returns undefined for other types and incomplete headers. */
export function readPictureHeader(bytes: Uint8Array): PictureHeader | undefined {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    return readPng(view) ?? readJpeg(view) ?? readWebp(view);
  } catch (error) {
    if (error instanceof RangeError) return undefined; // the header ends early
    throw error;
  }
}

const pngStart = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

function readPng(view: Buffer): PictureHeader | undefined {
  if (!view.subarray(0, 8).equals(pngStart) || view.toString('latin1', 12, 16) !== 'IHDR') return;
  return sized('image/png', view.readUInt32BE(16), view.readUInt32BE(20));
}

/** Walks the segments to the start of the frame, which has the size. */
function readJpeg(view: Buffer): PictureHeader | undefined {
  if (view.readUInt16BE(0) !== 0xffd8) return;
  for (let at = 2; ; ) {
    if (view.readUInt8(at) !== 0xff) return;
    const marker = view.readUInt8(at + 1);
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    if (isFrameStart(marker)) {
      return sized('image/jpeg', view.readUInt16BE(at + 7), view.readUInt16BE(at + 5));
    }
    const isAlone = marker === 0x01 || (marker >= 0xd0 && marker <= 0xd7);
    if (marker === 0xd9 || marker === 0xda) return;
    at += isAlone ? 2 : 2 + Math.max(view.readUInt16BE(at + 2), 2);
  }
}

const isFrameStart = (marker: number) =>
  marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;

function readWebp(view: Buffer): PictureHeader | undefined {
  const word = (at: number) => view.toString('latin1', at, at + 4);
  if (word(0) !== 'RIFF' || word(8) !== 'WEBP') return;
  const type = 'image/webp';
  if (word(12) === 'VP8X') {
    return sized(type, view.readUIntLE(24, 3) + 1, view.readUIntLE(27, 3) + 1);
  }
  if (word(12) === 'VP8L') {
    const bits = view.readUInt32LE(21);
    return view.readUInt8(20) === 0x2f
      ? sized(type, (bits & 0x3fff) + 1, ((bits >>> 14) & 0x3fff) + 1)
      : undefined;
  }
  if (word(12) !== 'VP8 ' || view.readUIntBE(23, 3) !== 0x9d012a) return;
  return sized(type, view.readUInt16LE(26) & 0x3fff, view.readUInt16LE(28) & 0x3fff);
}

const sized = (type: PictureHeader['type'], width: number, height: number) =>
  width > 0 && height > 0 ? { type, width, height } : undefined;
