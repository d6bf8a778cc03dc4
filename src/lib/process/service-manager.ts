import { write } from 'node:fs';
import type { Log } from '../log/log.ts';

/** What NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID say: the manager that started us and wants to know our state. */
type ManagerSettings = Readonly<{
  notifySocket: string | null;
  watchdogMs: number | null;
  watchdogPid: number | null;
}>;

const unixFamily = 1;
const datagram = 2;
const closeOnExec = 0o2000000;

/** Opens the way to the service manager, if there is one. Needs FFI for that moment and never again. */
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
    // Not waited for: a service manager that does not listen must not keep anybody waiting.
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
 * Node knows no datagram sockets of the Unix family, and nothing else gets a message to systemd that can be
 * seen to come from this very process. Once the socket is connected, writing to it is writing to a descriptor.
 */
async function connectTo(path: string): Promise<number> {
  const { dlopen } = await import('node:ffi');
  using libc = dlopen('libc.so.6', {
    socket: { arguments: ['int32', 'int32', 'int32'], return: 'int32' },
    connect: { arguments: ['int32', 'buffer', 'uint32'], return: 'int32' },
  });
  // A path that begins with @ is a name in the kernel, where a zero stands for the @.
  const family = Buffer.from(new Uint16Array([unixFamily]).buffer);
  const address = Buffer.concat([family, Buffer.from(path.replace(/^@/, '\0'))]);
  const descriptor = libc.functions.socket(unixFamily, datagram | closeOnExec, 0);
  const refused = libc.functions.connect(descriptor, address, address.length);
  if (refused) throw new Error(`NOTIFY_SOCKET: ${path} cannot be connected to`);
  return descriptor;
}
