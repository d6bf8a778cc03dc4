import { write } from 'node:fs';
import type { Log } from '../log/log.ts';

type ManagerSettings = Readonly<{
  notifySocket: string | null;
  watchdogMs: number | null;
  watchdogPid: number | null;
}>;

const unixFamily = 1;
const datagram = 2;
const closeOnExec = 0o2000000;

/** Connects to systemd or a similar service manager, if there is one. Drops the FFI permission afterwards. */
export async function reachServiceManager(
  { notifySocket, watchdogMs, watchdogPid }: ManagerSettings,
  log: Log,
) {
  const descriptor = notifySocket === null ? undefined : await connectTo(notifySocket);
  process.permission?.drop('ffi');
  let failing = false;
  const logFailure = (err: Error | null) => {
    if (err) log[failing ? 'debug' : 'warn']({ err }, 'the service manager could not be notified');
    failing = err !== null;
  };
  const notify = (...lines: string[]) => {
    // Not awaited, because a service manager that does not read must not block anyone.
    if (descriptor !== undefined) write(descriptor, lines.join('\n'), logFailure);
  };
  if (watchdogMs !== null && (watchdogPid ?? process.pid) === process.pid) {
    setInterval(() => notify('WATCHDOG=1'), watchdogMs / 2).unref();
  }
  return {
    ready: (status: string) => notify('READY=1', statusLine(status)),
    status: (status: string) => notify(statusLine(status)),
    stopping: (status: string) => notify('STOPPING=1', statusLine(status)),
  };
}

const statusLine = (sentence: string) => `STATUS=${sentence.replaceAll('\n', ' ')}`;

/**
 * Node has no Unix datagram sockets, so libc opens one. systemd accepts messages only from this process itself. Once
 * connected, the socket is written like a file.
 */
async function connectTo(path: string): Promise<number> {
  const { dlopen } = await import('node:ffi');
  using libc = dlopen('libc.so.6', {
    socket: { arguments: ['int32', 'int32', 'int32'], return: 'int32' },
    connect: { arguments: ['int32', 'buffer', 'uint32'], return: 'int32' },
  });
  // A leading @ means the abstract namespace, where a zero byte replaces it.
  const family = Buffer.from(new Uint16Array([unixFamily]).buffer);
  const address = Buffer.concat([family, Buffer.from(path.replace(/^@/, '\0'))]);
  const descriptor = libc.functions.socket(unixFamily, datagram | closeOnExec, 0);
  const refused = libc.functions.connect(descriptor, address, address.length);
  if (refused) throw new Error(`NOTIFY_SOCKET: cannot connect to ${path}`);
  return descriptor;
}
