import { syncBuiltinESMExports } from 'node:module';

/** What a process that serves has done for the last time when it is ready. */
const notForServing = [
  'child',
  'addon',
  'wasi',
  'ffi',
  'inspector',
  'fs.write',
  'fs.read',
] as const;

/**
 * Gives up, for good, everything but the network. Call it when start-up is over: files that are open stay
 * open, nothing else can be opened, started or loaded. Does nothing where the permission model
 * is off, as in a checkout.
 */
export function keepOnlyNetwork() {
  const { permission } = process;
  if (!permission) return;
  keepThreadsToLibrary();
  for (const scope of notForServing) permission.drop(scope);
}

/**
 * A thread may begin with every permission that the process was started with. The worker library took the
 * constructor when it was loaded, and starts its threads without any; no other code can start a thread
 * from now on.
 */
function keepThreadsToLibrary() {
  const threads: Partial<typeof import('node:worker_threads')> =
    process.getBuiltinModule('node:worker_threads');
  delete threads.Worker;
  // It runs its hooks in a thread.
  const modules: Partial<typeof import('node:module')> = process.getBuiltinModule('node:module');
  delete modules.register;
  syncBuiltinESMExports();
}
