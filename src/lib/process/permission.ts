/** What a process that serves has done for the last time when it is ready. */
const notForServing = [
  'child',
  'worker',
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
  for (const scope of notForServing) permission.drop(scope);
}
