import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Busboy, type BusboyHeaders } from '@fastify/busboy';
import type { Context } from 'hono';
import { Refusal } from '../../errors.ts';
import { brokenForm } from './body.ts';

export type UploadedFile = { name: string; chunks: AsyncIterable<Uint8Array> };

type FormReader = {
  maxBytes: number;
  maxFiles: number;
  /** Called for one file after the other. Must read the file to its end. */
  onFile: (file: UploadedFile) => Promise<void>;
};

const maxFields = 50;
const maxFieldBytes = 10_000;

/** Reads a form whose files are too large for memory. Returns its text fields. Files without a name are ignored. */
export async function readFormWithFiles(
  c: Context,
  { maxBytes, maxFiles, onFile }: FormReader,
): Promise<Record<string, string>> {
  const fields: Record<string, string> = Object.create(null);
  let work = Promise.resolve();
  let files = 0;
  let open: Readable | undefined;
  let failure: unknown;
  const busboy = openBusboy(c);
  const input = Readable.fromWeb((c.req.raw.body ?? new Blob().stream()) as never);
  busboy.on('field', (name, value) => {
    fields[name] = plain(value);
  });
  busboy.on('file', (_, stream, name) => {
    if (!name) return void stream.resume();
    files += 1;
    open = stream;
    stream.on('error', () => {}); // reading it throws the error
    work = work.then(async () => {
      if (files > maxFiles) throw new Refusal('too_large', `Choose at most ${maxFiles} files.`);
      await onFile({ name: plain(name), chunks: stream });
    });
    work.catch((error: Error) => {
      failure ??= error;
      busboy.destroy(error);
    });
  });
  await pipeline(input, limitBytes(maxBytes), busboy).catch(async (error: unknown) => {
    const first = failure ?? (error instanceof Refusal ? error : brokenForm());
    open?.destroy(error as Error);
    await work.catch(() => {});
    throw first;
  });
  await work;
  return fields;
}

const plain = (text: string) => text.toWellFormed().replaceAll('\0', '');

function openBusboy(c: Context) {
  const headers = { 'content-type': c.req.header('Content-Type') ?? '' } as BusboyHeaders;
  try {
    return new Busboy({ headers, limits: { fields: maxFields, fieldSize: maxFieldBytes } });
  } catch {
    throw brokenForm();
  }
}

function limitBytes(maxBytes: number) {
  let size = 0;
  return new Transform({
    transform(chunk: Buffer, _, done) {
      size += chunk.length;
      if (size <= maxBytes) return done(null, chunk);
      const mebibytes = Math.floor(maxBytes / 1024 / 1024);
      done(
        new Refusal('too_large', `The files are larger than ${mebibytes} MB together.`, {
          code: 'body_too_large',
        }),
      );
    },
  });
}
