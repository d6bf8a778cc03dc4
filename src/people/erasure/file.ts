import { closeSync, constants, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';

const { O_APPEND, O_CREAT, O_SYNC, O_WRONLY } = constants;

/**
 * The file of erasures, which outlives the database: it says what to erase again after an older backup is restored.
 * It stays open, because a service gives up opening files once it has started.
 */
export type ErasureFile = {
  /** Why it cannot be written, if it cannot. */
  problem: string | null;
  /** Whether all of the lines are on the disk. */
  append: (lines: readonly string[]) => boolean;
  close: () => void;
};

/** Gets a sentence when receipts wait in the database because the file cannot be written. */
type Report = (sentence: string) => void;

/** Opens the file that is configured, or that of the data folder. */
export function openErasureFile(
  config: { erasuresFile: string | null },
  dataDir: string,
  report: Report,
): ErasureFile {
  const path = config.erasuresFile ?? join(dataDir, 'erasures.jsonl');
  const unwritten = (error: unknown) =>
    `receipts of erasures wait in the database: ${path} cannot be written, because ${whyUnwritten(error)}`;
  try {
    const file = openSync(path, O_WRONLY | O_CREAT | O_APPEND | O_SYNC, 0o600);
    return appending(file, (error) => report(unwritten(error)));
  } catch (error) {
    const problem = unwritten(error);
    const append = () => {
      report(problem);
      return false;
    };
    return { problem, append, close: () => {} };
  }
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'its folder does not exist',
  ENOTDIR: 'a part of its path is a file',
  EISDIR: 'it is a folder',
  EACCES: 'the account this program runs as may not write there',
  EPERM: 'the account this program runs as may not write there',
  EROFS: 'it is on a read-only file system',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
};

function whyUnwritten(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return reasons[code ?? ''] ?? message;
}

function appending(file: number, failed: (error: unknown) => void): ErasureFile {
  let isTorn = false;
  return {
    problem: null,
    append(lines) {
      // A line that a full disk has cut short is ended first.
      const bytes = Buffer.from(`${isTorn ? '\n' : ''}${lines.join('\n')}\n`);
      try {
        isTorn = writeSync(file, bytes) < bytes.length;
        if (isTorn) throw new Error('the disk is full');
        return true;
      } catch (error) {
        failed(error);
        return false;
      }
    },
    close: () => closeSync(file),
  };
}

/** For work that has no file: rows wait in the table until a process that has one appends them. */
export const noErasureFile: ErasureFile = {
  problem: null,
  append: () => false,
  close: () => {},
};
