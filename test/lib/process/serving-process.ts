import { readFileSync } from 'node:fs';
import { restrictToNetwork } from '../../../src/lib/process/lifecycle.ts';
import { readDiskSpace } from '../../../src/lib/worker/disk-space.ts';
import { createWorker } from '../../../src/lib/worker/worker.ts';

const program = `
  const { parentPort, Worker } = require('node:worker_threads');
  const outcomeOf = (attempt) => {
    try {
      attempt();
      return 'allowed';
    } catch (error) {
      return error.code;
    }
  };
  parentPort.on('message', () => {
    const socket = require('node:net').connect(9, '127.0.0.1');
    socket.on('error', ({ code }) => parentPort.postMessage({ ok: true, value: {
      read: outcomeOf(() => require('node:fs').readFileSync('/etc/hostname')),
      write: outcomeOf(() => require('node:fs').writeFileSync('/tmp/askback-test', '')),
      child: outcomeOf(() => require('node:child_process').execFileSync('/bin/true')),
      thread: outcomeOf(() => new Worker('', { eval: true })),
      network: code,
    } }));
  });
`;

/** A serving process that prints the permissions of itself and of its thread. */
const worker = createWorker({
  program: () => program,
  heapMb: 32,
});
restrictToNetwork();

const threads = await import('node:worker_threads');
const modules = await import('node:module');
const inThread = await worker.run({ name: 'tryAll', input: null, group: 'a', limitMs: 20_000 });
const canRead = () => {
  try {
    readFileSync('/etc/hostname');
    return true;
  } catch {
    return false;
  }
};
console.log(
  JSON.stringify({
    canRead: canRead(),
    canStartThreads: 'Worker' in threads && threads.Worker !== undefined,
    canStartHooks: modules.register !== undefined,
    builtinWorker: process.getBuiltinModule('node:worker_threads').Worker !== undefined,
    inThread,
    knowsDisk: (await readDiskSpace('/tmp')).freeBytes > 0,
  }),
);
await worker.stop();
