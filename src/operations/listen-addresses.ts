import { Refusal } from '../errors.ts';
import type { ListenAddress } from '../lib/http/listen.ts';
import { sortPassedSockets } from '../lib/http/passed-sockets.ts';
import { type Config, ConfigError } from '../settings/config.ts';

export type ListenAddresses = { requests: ListenAddress; metrics: ListenAddress | null };

/** The sockets that a service manager passed, or else the addresses of the settings. */
export function whereToListen({ host, port, metrics, sockets }: Config): ListenAddresses {
  const passed = sortPassedSockets(sockets, process.pid);
  if (typeof passed === 'string') throw new ConfigError([passed]);
  const on = (descriptors: readonly number[]) => (descriptors.length > 0 ? { descriptors } : null);
  return {
    requests: on(passed.requests) ?? { host, port },
    metrics: on(passed.metrics) ?? metrics.listen,
  };
}

/** A name that does not resolve looks like a database that is away, unless it is said to be HOST. */
export function nameHost(error: NodeJS.ErrnoException): never {
  if (error.syscall !== 'getaddrinfo') throw error;
  throw new Refusal(
    'unavailable',
    `HOST: no address of this machine has that name (${error.message})`,
  );
}
