import { createReadStream, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Readable } from 'node:stream';
import { Refusal } from '../../errors.ts';
import { type DecodedText, decode } from './encoding.ts';
import { isZip, readWorkbook, type Sheet } from './workbook.ts';

const maxMiB = 256;

type TextFile = DecodedText & { name: string };

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

async function readWith(
  path: string,
  parse: (bytes: Buffer) => DecodedText | Promise<DecodedText>,
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
