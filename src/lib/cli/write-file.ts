import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { Refusal } from '../../errors.ts';

/** What the system's codes mean for a path that a command was given. */
const meanings: Readonly<Record<string, string>> = {
  EACCES: 'this account may not write there',
  EPERM: 'this account may not write there',
  EROFS: 'the file system there is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  ENOTDIR: 'a part of its path is a file',
  EEXIST: 'a part of its path is a file',
  EISDIR: 'a folder has this name',
  ENOENT: 'the folder does not exist and cannot be made',
};

/** Writes a file that a command was asked for, and the folders on the way to it. */
export function writeTextFile(path: string, text: string | Uint8Array) {
  try {
    makeFolders(dirname(path));
    writeFileSync(path, text);
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    throw new Refusal('invalid', `${path} cannot be written: ${meanings[code] ?? message}`);
  }
}

/** One by one: where a file system refuses with ENOENT, as /proc does, a recursive `mkdir` never ends. */
function makeFolders(path: string) {
  const present = statSync(path, { throwIfNoEntry: false });
  if (present?.isDirectory()) return;
  if (!present) makeFolders(dirname(path));
  mkdirSync(path);
}
