import type { CommandTools } from '../command-tools.ts';
import { Refusal } from '../errors.ts';
import { httpAddress } from '../lib/http/http-address.ts';
import { openDatabase } from '../open-database.ts';
import { readServiceRecord } from '../service-record.ts';
import type { Config } from '../settings/config.ts';

const patienceMs = 3000;
const mostOfBody = 4096;

/** Where the service of this environment can be asked, from the machine it runs on. */
export async function findService(
  config: Config,
  { say }: Pick<CommandTools, 'say'>,
): Promise<string> {
  const { host, port } = config;
  if (port !== 0) return localAddress(host, port);
  // With PORT=0 only the service knows its address. It is in the service record, unless links have a public URL.
  const record = config.publicUrl ? undefined : await readRecord(config, { say });
  if (!record)
    throw new Refusal(
      'unavailable',
      'with PORT=0 the address of the service is unknown: set PORT to a fixed one',
    );
  const { hostname, port: taken } = new URL(record.public_url);
  return httpAddress(reachable(hostname.replace(/^\[|\]$/g, '')), Number(taken));
}

async function readRecord(config: Config, { say }: Pick<CommandTools, 'say'>) {
  const atOnce = { ...config, databaseWaitSeconds: 0 };
  const { db, close } = await openDatabase(atOnce, { say, connections: 1 });
  return await readServiceRecord(db).finally(close);
}

/** Where a service on this machine that listens on HOST and PORT is called. */
export const localAddress = (host: string, port: number) => httpAddress(reachable(host), port);

/** A wildcard is where one listens, not where one calls. */
const reachable = (host: string) => ({ '0.0.0.0': '127.0.0.1', '::': '::1' })[host] ?? host;

/** The warnings of the running service; none when it does not answer. */
export async function askWarnings(address: string): Promise<{ proxy?: string }> {
  try {
    const signal = AbortSignal.timeout(patienceMs);
    const response = await fetch(`${address}/readyz`, { signal, redirect: 'manual' });
    const { warnings } = (await response.json()) as { warnings?: { proxy?: string } };
    return warnings ?? {};
  } catch {
    return {};
  }
}

/** The status and sentence of a health address. */
export async function askHealth(url: string): Promise<{ status: number | null; sentence: string }> {
  try {
    const signal = AbortSignal.timeout(patienceMs);
    const response = await fetch(url, { signal, redirect: 'manual' });
    const body = (await response.text()).slice(0, mostOfBody);
    return { status: response.status, sentence: `${url} answers ${response.status}: ${body}` };
  } catch (error) {
    const late = (error as Error).name === 'TimeoutError';
    const within = late ? ` within ${patienceMs / 1000} seconds` : '';
    return { status: null, sentence: `${url} does not answer${within}` };
  }
}
