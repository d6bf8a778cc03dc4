import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { Refusal } from '../../errors.ts';

const largestMiB = 256;

export type TextFile = { text: string; encoding: Encoding; name: string };
export type Encoding = 'UTF-8' | 'UTF-16' | 'Windows-1252';

/** The text of a file that a command names, or of its standard input for `-`. */
export async function readTextFile(path: string): Promise<TextFile> {
  const name = path === '-' ? 'standard input' : path;
  try {
    const bytes = await readAll(path === '-' ? process.stdin : createReadStream(path), name);
    return { ...decode(bytes), name };
  } catch (error) {
    if (error instanceof Refusal) throw error;
    throw unreadable(name, error as Error);
  }
}

/** The bytes of a small file that a command names. */
export async function readBytes(path: string): Promise<Buffer> {
  try {
    return await readAll(createReadStream(path), path);
  } catch (error) {
    if (error instanceof Refusal) throw error;
    throw unreadable(path, error as Error);
  }
}

/** What the system's codes mean for a file that a command was given. */
const meanings: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'there is no such file',
  EISDIR: 'it is a folder',
  EACCES: 'this account may not read it',
  EPERM: 'this account may not read it',
};

export function unreadable(name: string, { code = '', message }: NodeJS.ErrnoException): Refusal {
  return new Refusal('invalid', `${name} cannot be read: ${meanings[code] ?? message}`);
}

async function readAll(stream: Readable, name: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > largestMiB * 1024 * 1024) {
      throw new Refusal('invalid', `${name} is larger than ${largestMiB} MiB: cut it into several`);
    }
  }
  return Buffer.concat(chunks);
}

/**
 * What spreadsheets write: UTF-8, UTF-16 with or without its mark, or the code page of Western Windows.
 * Anything that is not text in one of them is refused.
 */
export function decode(bytes: Uint8Array): Omit<TextFile, 'name'> {
  refuseWorkbook(bytes);
  const encoding = encodingOf(bytes);
  const text = new TextDecoder(labelOf(encoding, bytes)).decode(bytes);
  refuseNoText(text, encoding);
  return { text, encoding };
}

/** By the first bytes of a file. */
export function refuseWorkbook(bytes: Uint8Array) {
  if (startsWith(bytes, 0x50, 0x4b, 3, 4) || startsWith(bytes, 0xd0, 0xcf, 0x11, 0xe0)) {
    throw new Error('it is a workbook: save it as CSV first');
  }
}

export function refuseNoText(text: string, encoding: Encoding) {
  // What the code page leaves open becomes a C1 control character.
  if (
    /[\u0000\ufffd]/.test(text) ||
    (encoding === 'Windows-1252' && /[\u0080-\u009f]/.test(text))
  ) {
    throw new Error('it is not text in UTF-8, UTF-16 or Windows-1252');
  }
}

/** The name of an encoding as decoders know it; the first bytes of the file say which end comes first. */
export const labelOf = (encoding: Encoding, bytes: Uint8Array) =>
  encoding === 'UTF-16' && isBigEndian(bytes) ? 'UTF-16BE' : encoding;

const startsWith = (bytes: Uint8Array, ...start: number[]) =>
  start.every((byte, place) => bytes[place] === byte);

function encodingOf(bytes: Uint8Array): Encoding {
  if (isUtf16(bytes)) return 'UTF-16';
  return textOf(bytes, 'UTF-8') === undefined ? 'Windows-1252' : 'UTF-8';
}

/** By the first bytes of a file: a header row has letters of ASCII, each of which is a NUL and a letter in UTF-16. */
export const isUtf16 = (bytes: Uint8Array) =>
  startsWith(bytes, 0xff, 0xfe) ||
  startsWith(bytes, 0xfe, 0xff) ||
  (bytes.length >= 2 && (bytes[0] === 0) !== (bytes[1] === 0));

const isBigEndian = (bytes: Uint8Array) => bytes[0] === 0 || startsWith(bytes, 0xfe, 0xff);

function textOf(bytes: Uint8Array, label: string): string | undefined {
  try {
    return new TextDecoder(label, { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
