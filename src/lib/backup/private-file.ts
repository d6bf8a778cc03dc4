import { randomBytes } from 'node:crypto';
import { closeSync, constants, createWriteStream, openSync, renameSync, rmSync } from 'node:fs';
import type { Writable } from 'node:stream';
import { Refusal } from '../../errors.ts';
import { reasonUnwritten } from '../cli/files.ts';

const { O_CREAT, O_DSYNC, O_EXCL, O_WRONLY } = constants;

/** Large writes, because each one waits for the disk. */
const bufferBytes = 1 << 20;

/**
 * Writes a file that only its owner can read. It gets its name when it is complete and on disk. The draft has an
 * unpredictable name, so that no other user can create it first. O_DSYNC replaces fsync, which Node's permission model
 * forbids.
 */
export async function writePrivateFile(path: string, write: (out: Writable) => Promise<void>) {
  const draft = `${path}.${randomBytes(8).toString('hex')}.part`;
  const descriptor = makeDraft(path, draft);
  try {
    const out = { fd: descriptor, autoClose: false, highWaterMark: bufferBytes };
    await write(createWriteStream(draft, out));
    renameSync(draft, path);
  } finally {
    closeSync(descriptor);
    rmSync(draft, { force: true });
  }
}

function makeDraft(path: string, draft: string): number {
  try {
    return openSync(draft, O_WRONLY | O_CREAT | O_EXCL | O_DSYNC, 0o600);
  } catch (error) {
    const reason = reasonUnwritten(error).replace(draft, path);
    throw new Refusal('invalid', `${path} cannot be written: ${reason}`);
  }
}
