import { accessSync, constants, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Config } from '../settings/config.ts';

type Places = Pick<Config, 'databaseUrl' | 'dataDir' | 'erasuresFile'>;

/** Why a folder or a file that a setting names cannot be used, each by the name of its setting. Makes nothing. */
export function complaintsOfPlaces({ databaseUrl, dataDir, erasuresFile }: Places): string[] {
  const data = databaseUrl ? undefined : complaintOfFolder(resolve(dataDir));
  const erasures = erasuresFile ? complaintOfFile(resolve(erasuresFile)) : undefined;
  return [
    ...(data ? [`ASKBACK_DATA_DIR: ${data}`] : []),
    ...(erasures ? [`ASKBACK_ERASURES_FILE: ${erasures}`] : []),
  ];
}

/** A folder that is not there yet is made in the nearest one above it. */
function complaintOfFolder(path: string): string | undefined {
  const there = nearest(path);
  if (!statSync(there).isDirectory())
    return `the data folder ${path} cannot be made: ${there} is a file`;
  try {
    accessSync(there, constants.W_OK | constants.X_OK);
    return undefined;
  } catch {
    return `the data folder ${path} may not be written by the account this program runs as`;
  }
}

function nearest(path: string): string {
  const isThere = statSync(path, { throwIfNoEntry: false }) !== undefined;
  return isThere || path === dirname(path) ? path : nearest(dirname(path));
}

/** The folder of a file is not made. */
function complaintOfFile(path: string): string | undefined {
  const folder = dirname(path);
  const there = statSync(path, { throwIfNoEntry: false });
  if (there?.isDirectory()) return `${path} is a folder`;
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    return `there is no folder ${folder}`;
  try {
    accessSync(there ? path : folder, constants.W_OK);
    return undefined;
  } catch {
    return `${path} may not be written by the account this program runs as`;
  }
}
