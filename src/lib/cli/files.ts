import { isAscii as isAsciiBytes, isUtf8 } from 'node:buffer';
import { createReadStream, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Readable } from 'node:stream';
import { Refusal } from '../../errors.ts';
import { isZip, readWorkbook, type Sheet } from './workbook.ts';

const maxMiB = 256;

type TextFile = { text: string; encoding: Encoding; name: string };
type Encoding = 'UTF-8' | 'UTF-16' | 'Windows-1252';

/** Reads a text file, or standard input for `-`. */
export const readTextFile = (path: string) => readWith(path, decode);

/** Reads a text file, or a sheet of a workbook as CSV. */
export const readTable = (path: string, sheet: string | undefined) =>
  readWith(path, async (bytes) =>
    isZip(bytes)
      ? { text: sheetText(await readWorkbook(bytes), sheet), encoding: 'UTF-8' }
      : decode(bytes),
  );

function sheetText(sheets: readonly Sheet[], wanted: string | undefined): string {
  const names = sheets.map(({ name }) => JSON.stringify(name)).join(', ');
  const chosen = wanted === undefined ? sheets : sheets.filter(({ name }) => name === wanted);
  if (chosen.length === 0) throw new Error(`it has no sheet of this name, only ${names}`);
  if (chosen.length > 1) throw new Error(`choose one of its sheets with --sheet: ${names}`);
  return chosen[0]!.pieces.join('');
}

type Decoded = Omit<TextFile, 'name'>;

async function readWith(
  path: string,
  parse: (bytes: Buffer) => Decoded | Promise<Decoded>,
): Promise<TextFile> {
  const name = path === '-' ? 'standard input' : path;
  return await explainReadErrors(name, async () => {
    const bytes = await readAll(path === '-' ? process.stdin : createReadStream(path), name);
    return { ...(await parse(bytes)), name };
  });
}

export const readBytes = (path: string): Promise<Buffer> =>
  explainReadErrors(path, () => readAll(createReadStream(path), path));

async function explainReadErrors<T>(name: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    throw error instanceof Refusal ? error : unreadable(name, error as Error);
  }
}

const fileErrors: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  ENOTDIR: 'a part of its path is a file',
  EEXIST: 'a part of its path is a file',
  EISDIR: 'it is a folder',
};

function unreadable(name: string, { code = '', message }: NodeJS.ErrnoException): Refusal {
  const reason = code === 'ENOENT' ? 'no such file' : (fileErrors[code] ?? message);
  return new Refusal('invalid', `${name} cannot be read: ${reason}`);
}

async function readAll(stream: Readable, name: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > maxMiB * 1024 * 1024) {
      throw new Refusal('invalid', `${name} is larger than ${maxMiB} MiB: split it`);
    }
  }
  return Buffer.concat(chunks);
}

/** Decodes what spreadsheets write: UTF-8, UTF-16 with or without byte order mark, or Windows-1252. */
export function decode(bytes: Uint8Array): Decoded {
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

export function writeTextFile(path: string, text: string | Uint8Array) {
  try {
    makeFolders(dirname(path));
    writeFileSync(path, text);
  } catch (error) {
    throw new Refusal('invalid', `${path} cannot be written: ${reasonUnwritten(error)}`);
  }
}

export function reasonUnwritten(error: unknown): string {
  const { code = '', message } = error as NodeJS.ErrnoException;
  return code === 'ENOENT' ? 'the folder does not exist' : (fileErrors[code] ?? message);
}

/** Avoids a recursive `mkdir`, which never ends on file systems that fail with ENOENT, such as /proc. */
export function makeFolders(path: string) {
  const present = statSync(path, { throwIfNoEntry: false });
  if (present?.isDirectory()) return;
  if (!present) makeFolders(dirname(path));
  mkdirSync(path);
}
