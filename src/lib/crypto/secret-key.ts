import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { Refusal } from '../../errors.ts';

const fileName = 'secret.key';
const keyBytes = 32;

/** The key in the data directory, made on first use. Two processes that begin at once get the same one. */
export function obtainSecretKey(dataDir: string): Buffer {
  const found = readSecretKey(dataDir);
  if (found) return found;

  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const draft = join(dataDir, `${fileName}.${randomBytes(6).toString('hex')}`);
  try {
    writeWhole(draft, `${randomBytes(keyBytes).toString('base64')}\n`);
    linkSync(draft, join(dataDir, fileName));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(draft, { force: true });
  }
  return orRefuse(readSecretKey(dataDir), dataDir);
}

/** The key in the data directory, if there is one. A damaged one is never silently replaced. */
export function readSecretKey(dataDir: string): Buffer | undefined {
  const path = join(dataDir, fileName);
  try {
    const key = Buffer.from(readFileSync(path, 'utf8').trim(), 'base64');
    if (key.length === keyBytes) return key;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  throw new Refusal('unavailable', `${path} is damaged: it must be base64 of ${keyBytes} bytes`);
}

/**
 * On the disk before it has its name: a key that is seen is whole, also after a power cut. Opened to
 * write through, because under Node's permission model there is no fsync.
 */
const { O_CREAT, O_EXCL, O_SYNC, O_WRONLY } = constants;

function writeWhole(path: string, text: string) {
  const file = openSync(path, O_WRONLY | O_CREAT | O_EXCL | O_SYNC, 0o600);
  try {
    writeSync(file, text);
  } finally {
    closeSync(file);
  }
}

function orRefuse(key: Buffer | undefined, dataDir: string): Buffer {
  if (!key) throw new Refusal('unavailable', `${fileName} vanished from ${dataDir}`);
  return key;
}

/** Puts a restored key in its place. Another one that is there already is not replaced. */
export function placeSecretKey(dataDir: string, key: Buffer) {
  const found = readSecretKey(dataDir);
  if (found && !found.equals(key)) {
    throw new Refusal(
      'conflict',
      `${join(dataDir, fileName)} is another key than the backup's: restore into an empty data directory`,
    );
  }
  if (found) return;
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  writeWhole(join(dataDir, fileName), `${key.toString('base64')}\n`);
}
