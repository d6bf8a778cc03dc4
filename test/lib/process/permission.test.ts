import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const flags = [
  '--permission',
  '--allow-net',
  '--allow-fs-read=*',
  '--allow-fs-write=*',
  '--allow-child-process',
  '--allow-worker',
  '--no-warnings',
];

test('a serving process only starts worker threads without permissions', () => {
  const script = fileURLToPath(new URL('./serving-process.ts', import.meta.url));
  const output = execFileSync(process.execPath, [...flags, script], { encoding: 'utf8' });
  const denied = 'ERR_ACCESS_DENIED';
  const { inThread, ...itself } = JSON.parse(output);
  assert.deepEqual(itself, {
    canRead: false,
    canStartThreads: false,
    canStartHooks: false,
    builtinWorker: false,
    knowsDisk: true,
  });
  assert.deepEqual(inThread, {
    read: denied,
    write: denied,
    child: denied,
    thread: denied,
    network: denied,
  });
});
