import { accessSync, constants, statfsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { asSentence } from './failure.ts';
import { refuseUnquotable } from './folder.ts';

/** The file systems of the kernel, as `statfs` names them: nothing can be made there. */
const kernelSystems = new Set([0x9fa0, 0x62656572, 0x63677270]); // proc, sys, cgroup2

/** Why there can be no data folder, as far as it can be seen without making one. */
export function complaintOfFolder(asked: string): string | undefined {
  const wanted = resolve(asked);
  try {
    refuseUnquotable(wanted);
    judge(nearest(wanted), wanted);
    return undefined;
  } catch (error) {
    return (asSentence(error, `the data folder ${wanted}`) as Error).message;
  }
}

/** The folder itself, or the nearest one above it that is there. */
function nearest(path: string): string {
  const isThere = statSync(path, { throwIfNoEntry: false }) !== undefined;
  return isThere || path === dirname(path) ? path : nearest(dirname(path));
}

function judge(path: string, wanted: string) {
  if (!statSync(path).isDirectory()) throw failure(path === wanted ? 'EEXIST' : 'ENOTDIR');
  if (kernelSystems.has(statfsSync(path).type)) throw failure('ENOENT');
  try {
    accessSync(path, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw failure((error as NodeJS.ErrnoException).code, path === wanted ? 'access' : 'mkdir');
  }
}

const failure = (code: string | undefined, syscall = 'mkdir') =>
  Object.assign(new Error(code), { code, syscall });
