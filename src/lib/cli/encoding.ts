import { isAscii as isAsciiBytes, isUtf8 } from 'node:buffer';
import { isZip } from './workbook.ts';

export type DecodedText = { text: string; encoding: Encoding };
type Encoding = 'UTF-8' | 'UTF-16' | 'Windows-1252';

/** Decodes what spreadsheets write: UTF-8, UTF-16 with or without byte order mark, or Windows-1252. */
export function decode(bytes: Uint8Array): DecodedText {
  return { text: [...decodeInPieces(bytes)].join(''), encoding: encodingOf(bytes) };
}

const pieceBytes = 256 * 1024;

/** Decodes in pieces, so that large files do not block other work. */
export function* decodeInPieces(bytes: Uint8Array): Generator<string> {
  refuseWorkbook(bytes);
  const encoding = encodingOf(bytes);
  const decoder = new TextDecoder(labelOf(encoding, bytes));
  for (let from = 0; from < bytes.length; from += pieceBytes) {
    const end = from + pieceBytes;
    const piece = decoder.decode(bytes.subarray(from, end), { stream: end < bytes.length });
    refuseBinary(piece, encoding);
    yield piece;
  }
}

/**
 * Decodes a file of any size while it arrives, in pieces of whole lines. The first bytes outside ASCII decide between
 * UTF-8 and Windows-1252.
 */
export async function* decodeStream(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let decoder: TextDecoder | undefined;
  let encoding: Encoding = 'UTF-8';
  let isAscii = true;
  for await (const { bytes, isLast } of cutAtLines(chunks)) {
    if (!decoder) {
      refuseWorkbook(bytes);
      if (isUtf16(bytes)) encoding = 'UTF-16';
      decoder = new TextDecoder(labelOf(encoding, bytes), { fatal: encoding === 'UTF-8' });
    }
    if (encoding === 'UTF-8' && !isUtf8(bytes)) {
      if (!isAscii) throw new Error(notText);
      encoding = 'Windows-1252';
      decoder = new TextDecoder(encoding);
    }
    isAscii &&= isAsciiBytes(bytes);
    const piece = decoder.decode(bytes, { stream: !isLast });
    refuseBinary(piece, encoding);
    yield piece;
  }
}

const maxLineBytes = 2 * 1024 * 1024;

async function* cutAtLines(chunks: AsyncIterable<Uint8Array>) {
  let bytes = Buffer.alloc(0);
  for await (const chunk of chunks) {
    bytes = Buffer.concat([bytes, chunk]);
    if (bytes.length < pieceBytes) continue;
    const end = bytes.lastIndexOf('\n') + 1;
    if (end === 0 && bytes.length > maxLineBytes) throw new Error('a line is too long');
    if (end === 0) continue;
    yield { bytes: bytes.subarray(0, end), isLast: false };
    bytes = bytes.subarray(end);
  }
  yield { bytes, isLast: true };
}

function refuseWorkbook(bytes: Uint8Array) {
  if (isZip(bytes)) throw new Error('it is a workbook: save it as CSV first');
  if (startsWith(bytes, 0xd0, 0xcf, 0x11, 0xe0)) {
    throw new Error('it is a workbook of an old format: save it as .xlsx or CSV first');
  }
}

function refuseBinary(text: string, encoding: Encoding) {
  // Bytes that Windows-1252 does not define become C1 control characters.
  if (
    /[\u0000\ufffd]/.test(text) ||
    (encoding === 'Windows-1252' && /[\u0080-\u009f]/.test(text))
  ) {
    throw new Error(notText);
  }
}

const notText = 'it is not text in UTF-8, UTF-16 or Windows-1252';

const labelOf = (encoding: Encoding, bytes: Uint8Array) =>
  encoding === 'UTF-16' && isBigEndian(bytes) ? 'UTF-16BE' : encoding;

const startsWith = (bytes: Uint8Array, ...start: number[]) =>
  start.every((byte, place) => bytes[place] === byte);

function encodingOf(bytes: Uint8Array): Encoding {
  if (isUtf16(bytes)) return 'UTF-16';
  return isUtf8(bytes) ? 'UTF-8' : 'Windows-1252';
}

/** If there is no byte order mark, the ASCII letters of a header row have one NUL byte each. */
const isUtf16 = (bytes: Uint8Array) =>
  startsWith(bytes, 0xff, 0xfe) ||
  startsWith(bytes, 0xfe, 0xff) ||
  (bytes.length >= 2 && (bytes[0] === 0) !== (bytes[1] === 0));

const isBigEndian = (bytes: Uint8Array) => bytes[0] === 0 || startsWith(bytes, 0xfe, 0xff);
