import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import {
  type Encoding,
  isUtf16,
  labelOf,
  readTextFile,
  refuseNoText,
  refuseWorkbook,
  unreadable,
} from './read-file.ts';

/** A text that can be read several times, piece by piece, with `\n` as its line end. */
export type TextSource = {
  name: string;
  encoding: Encoding;
  pieces: () => AsyncIterable<string>;
};

const bytesAtOnce = 256 * 1024;

/**
 * The text of a file that a command names, as spreadsheets write it, of any size in flat memory. It is read once to
 * find its encoding, and refused if it is no text. Standard input, for `-`, is kept in memory: it can be read once only.
 */
export async function openText(path: string): Promise<TextSource> {
  if (path === '-') {
    const { text, ...source } = await readTextFile(path);
    return { ...source, pieces: () => withLineEnds([text]) };
  }
  try {
    const encoding = await findEncoding(path);
    return { name: path, encoding, pieces: () => withLineEnds(decoded(path, encoding)) };
  } catch (error) {
    throw unreadable(path, error as Error);
  }
}

async function findEncoding(path: string): Promise<Encoding> {
  const start = await firstBytes(path);
  refuseWorkbook(start);
  const encoding: Encoding = isUtf16(start)
    ? 'UTF-16'
    : (await isUtf8(path))
      ? 'UTF-8'
      : 'Windows-1252';
  for await (const piece of decoded(path, encoding)) refuseNoText(piece, encoding);
  return encoding;
}

async function firstBytes(path: string): Promise<Uint8Array> {
  await using file = await open(path);
  const { buffer, bytesRead } = await file.read(new Uint8Array(8), 0, 8, 0);
  return buffer.subarray(0, bytesRead);
}

async function isUtf8(path: string): Promise<boolean> {
  const decoder = new TextDecoder('UTF-8', { fatal: true });
  for await (const bytes of bytesOf(path)) {
    if (!succeeds(() => decoder.decode(bytes, { stream: true }))) return false;
  }
  return succeeds(() => decoder.decode());
}

function succeeds(decode: () => string): boolean {
  try {
    decode();
    return true;
  } catch {
    return false;
  }
}

async function* decoded(path: string, encoding: Encoding) {
  const decoder = new TextDecoder(labelOf(encoding, await firstBytes(path)));
  for await (const bytes of bytesOf(path)) yield decoder.decode(bytes, { stream: true });
  yield decoder.decode();
}

const bytesOf = (path: string): AsyncIterable<Buffer> =>
  createReadStream(path, { highWaterMark: bytesAtOnce });

/** A line end of two characters may be cut in two. */
async function* withLineEnds(pieces: AsyncIterable<string> | Iterable<string>) {
  let waiting = '';
  for await (const piece of pieces) {
    const text = waiting + piece;
    waiting = text.endsWith('\r') ? '\r' : '';
    yield text.slice(0, text.length - waiting.length).replace(/\r\n?/g, '\n');
  }
  if (waiting) yield '\n';
}
