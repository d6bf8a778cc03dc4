import { randomBytes } from 'node:crypto';
import {
  closeSync,
  createWriteStream,
  fstatSync,
  fsyncSync,
  lstatSync,
  openSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { dirname } from 'node:path';
import type { Writable } from 'node:stream';
import { Refusal } from '../../errors.ts';

/**
 * Writes a file that only its owner may read, and gives it its name when it is whole and on the disk. The
 * draft has a name that no other user can foresee and lay a file under, and is made, never opened.
 */
export async function writePrivateFile(path: string, write: (out: Writable) => Promise<void>) {
  const draft = `${path}.${randomBytes(8).toString('hex')}.part`;
  const descriptor = openSync(draft, 'wx', 0o600);
  try {
    // Open until the end: only then its inode cannot be another file's.
    await write(createWriteStream(draft, { fd: descriptor, autoClose: false }));
    fsyncSync(descriptor);
    refuseExchanged(descriptor, draft);
    renameSync(draft, path);
    syncFolder(dirname(path));
  } finally {
    closeSync(descriptor);
    rmSync(draft, { force: true });
  }
}

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

/** So that the name, too, outlives a power cut. Some network file systems cannot. */
function syncFolder(path: string) {
  const folder = openSync(path, 'r');
  try {
    fsyncSync(folder);
  } catch {
    // The file itself is on the disk.
  } finally {
    closeSync(folder);
  }
}
