import { Refusal } from '../../errors.ts';

/** What the system's codes mean for the operator. */
const meanings: Record<string, string> = {
  EACCES: 'is not accessible to the account this program runs as: change its owner or its mode',
  EPERM: 'belongs to another account: change its owner or use another folder',
  EROFS: 'is on a read-only file system: use a folder that can be written',
  ENOSPC: 'is on a full disk: free some space and start again',
  EDQUOT: 'is over its disk quota: free some space and start again',
  ENOTDIR: 'cannot be made, because a part of its path is a file',
  ENOENT: 'cannot be made, because the file system there takes no folders',
  EEXIST: 'cannot be made, because something else has its name',
  ELOOP: 'cannot be reached, because its links go in a circle',
  ENAMETOOLONG: 'has a path that is too long',
};

const notMade =
  'cannot be made by the account this program runs as: make it and give it to that account, or use another folder';

/** Turns an expected failure of the system into one sentence about its subject; others stay as they are. */
export function asSentence(error: unknown, subject: string): unknown {
  const { code = '', syscall } = (error ?? {}) as NodeJS.ErrnoException;
  const isRefused = syscall === 'mkdir' && (code === 'EACCES' || code === 'EPERM');
  const meaning = isRefused ? notMade : meanings[code];
  return meaning === undefined
    ? error
    : new Refusal('unavailable', `${subject} ${meaning}`, { code: 'data_folder' });
}

/** Messages of a Postgres that ends at once, and the remedy. */
const complaints: [RegExp, string][] = [
  [/No space left on device/i, 'the disk is full: free some space and start again'],
  [/Disk quota exceeded/i, 'the disk quota is used up: free some space and start again'],
  [
    /could not (map|create|resize|allocate).*shared memory|Cannot allocate memory/i,
    'there is not enough memory for it',
  ],
  [
    /Permission denied/i,
    'it may not read or write its own files: change the owner of the data folder',
  ],
  [
    /wrong ownership|invalid permissions/i,
    'its data belongs to another account: change the owner of the data folder',
  ],
  [/error while loading shared libraries: (\S+?):/i, 'this system lacks a library that it needs'],
  [/checkpoint record|invalid (magic|checksum)|PANIC/i, 'its data is damaged: restore a backup'],
];

/** One sentence from what the server wrote before it ended. */
export function serverRefusal(output: string): Refusal {
  const known = complaints.find(([pattern]) => pattern.test(output))?.[1];
  const said = output.match(/(?:FATAL|PANIC|ERROR|error):\s*(.+)/)?.[1];
  const reason = known ?? said ?? 'it ended without saying why';
  return new Refusal('unavailable', `the embedded Postgres did not start: ${reason}`, {
    code: 'embedded_postgres',
  });
}
