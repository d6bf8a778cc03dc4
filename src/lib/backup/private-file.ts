import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  createWriteStream,
  fstatSync,
  lstatSync,
  openSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { dirname } from 'node:path';
import type { Writable } from 'node:stream';
import { Refusal } from '../../errors.ts';

const { O_CREAT, O_DSYNC, O_EXCL, O_WRONLY } = constants;

/** So that what waits goes to the disk in few large writes: each one waits for the disk. */
const bufferBytes = 1 << 20;

/**
 * Writes a file that only its owner may read, and gives it its name when it is whole and on the disk. The
 * draft has a name that no other user can foresee and lay a file under, and is made, never opened.
 * It is opened to write through, because under Node's permission model there is no fsync.
 */
export async function writePrivateFile(path: string, write: (out: Writable) => Promise<void>) {
  const draft = `${path}.${randomBytes(8).toString('hex')}.part`;
  const descriptor = makeDraft(path, draft);
  try {
    // Open until the end: only then its inode cannot be another file's.
    const out = { fd: descriptor, autoClose: false, highWaterMark: bufferBytes };
    await write(createWriteStream(draft, out));
    refuseExchanged(descriptor, draft);
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
    const { code = '', message } = error as NodeJS.ErrnoException;
    const meaning = meanings[code]?.(dirname(path)) ?? message.replace(draft, path);
    throw new Refusal('invalid', `${path} cannot be written: ${meaning}`);
  }
}

const meanings: Readonly<Record<string, (folder: string) => string>> = {
  ENOENT: (folder) => `there is no folder ${folder}`,
  ENOTDIR: (folder) => `${folder} is no folder`,
  EACCES: (folder) => `this account may not write in ${folder}`,
  EROFS: (folder) => `${folder} is on a read-only file system`,
};

/** In a folder that others may write to, the draft's name may by now lead to a file of theirs. */
function refuseExchanged(descriptor: number, draft: string) {
  const [own, named] = [fstatSync(descriptor), lstatSync(draft)];
  const same = own.ino === named.ino && own.dev === named.dev;
  if (same && named.uid === process.geteuid?.() && named.nlink === 1) return;
  throw new Refusal(
    'conflict',
    `${draft} was replaced while it was written: write into a folder of your own`,
  );
}
