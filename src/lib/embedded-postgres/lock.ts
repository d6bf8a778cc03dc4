import { closeSync, constants, openSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { unavailable } from '../../errors.ts';
import { chownTo, type DataFolder } from './folder.ts';

const pollMs = 25;
const sqliteBusy = 5;

/** A file lock. The kernel releases it when the process ends. */
export type Lock = {
  tryExclusive(): boolean;
  tryShared(): boolean;
  release(): void;
  close(): void;
};

/**
 * Node has no flock, but its SQLite takes file locks for transactions. They end with the process, so no lock is ever
 * stale. Once open, the lock needs no file permissions.
 */
export function openLock({ path, account }: DataFolder, name: string): Lock {
  const file = `${path}/${name}.lock`;
  const flags = constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW;
  closeSync(openSync(file, flags, 0o600));
  chownTo(file, account);
  const db = new DatabaseSync(file, { timeout: 0 });
  let held = false;
  const release = () => {
    if (held) db.exec('rollback');
    held = false;
  };
  const take = (statements: string) => {
    release();
    try {
      db.exec(`pragma journal_mode = memory; ${statements}`); // nothing is ever written
      held = true;
    } catch (error) {
      if (db.isTransaction) db.exec('rollback');
      if ((error as { errcode?: number }).errcode !== sqliteBusy) throw error;
    }
    return held;
  };
  return {
    tryExclusive: () => take('begin exclusive'),
    tryShared: () => take('begin; select count(*) from sqlite_schema'),
    release,
    close: () => {
      release();
      db.close();
    },
  };
}

export async function waitForLock(take: () => boolean, what: string, seconds: number) {
  const deadline = performance.now() + seconds * 1000;
  while (!take()) {
    if (performance.now() > deadline) {
      throw unavailable(`another process has been ${what} for ${seconds} seconds`);
    }
    await sleep(pollMs);
  }
}
