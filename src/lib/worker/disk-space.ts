import { statfsSync } from 'node:fs';
import { Worker as Thread } from 'node:worker_threads';

// Saved at startup, because `restrictToNetwork` removes the constructor for all other code.
const ThreadConstructor = Thread;

export type DiskSpace = { freeBytes: number; totalBytes: number };

type Stats = { bavail: number; blocks: number; bsize: number };

/** If the process has lost access to files, a thread reads the folder. The thread may read nothing else. */
export async function readDiskSpace(folder: string): Promise<DiskSpace> {
  const isAllowed = !process.permission || process.permission.has('fs.read', folder);
  const { bavail, blocks, bsize } = isAllowed ? statfsSync(folder) : await readInThread(folder);
  return { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
}

const limitMs = 2000;

async function readInThread(folder: string): Promise<Stats> {
  const thread = new ThreadConstructor(program, {
    eval: true,
    execArgv: ['--permission', `--allow-fs-read=${folder}`],
    env: {},
    workerData: folder,
  });
  const { promise, resolve, reject } = Promise.withResolvers<Stats>();
  thread.once('message', resolve).once('error', reject);
  const late = setTimeout(() => reject(new Error('the disk does not answer')), limitMs);
  return await promise.finally(() => {
    clearTimeout(late);
    return thread.terminate();
  });
}

const program = `
  const { parentPort, workerData } = require('node:worker_threads');
  const { bavail, blocks, bsize } = require('node:fs').statfsSync(workerData);
  parentPort.postMessage({ bavail, blocks, bsize });`;
