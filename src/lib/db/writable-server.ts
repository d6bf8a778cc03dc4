import { Refusal } from '../../errors.ts';
import { withinMs } from '../async/deadline.ts';
import { connect, type Db, isDatabaseAway, one } from './db.ts';

/** A server that does not answer a look for so long is passed over. */
const answerLimitMs = 1500;
/** How long the first look waits for the others when one takes writes: they may be of another cluster. */
const othersLimitMs = 1000;
const probeIdleSeconds = 5;
const usualPort = 5432;

/** One of several servers that an address names. */
export type NamedServer = { url: string; host: string; port: number; probe: Db };

/** A server that takes writes, and its cluster by an identifier that a primary and its standbys share. */
type Writable = { server: NamedServer; system: string };

/** Among the codes of `isDatabaseAway`. */
export const notWritable = 'NO_WRITABLE_SERVER';

export function serverAt(url: string): NamedServer {
  const { hostname, port } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, '');
  return { url, host, port: port ? Number(port) : usualPort, probe: openProbe(url) };
}

const openProbe = (url: string) =>
  connect(url, { connections: 1, idleSeconds: probeIdleSeconds, arrays: false });

/** Which of several servers takes writes. Once one was found, those of other clusters are passed over. */
export function createChoice(
  servers: readonly NamedServer[],
  onFound: (server: NamedServer) => void,
) {
  let current: Writable | undefined;
  let system: string | undefined;
  let looking: Promise<NamedServer> | undefined;
  let isDoubted = false;

  function look(): Promise<NamedServer> {
    looking ??= findWritable(servers, system)
      .then(use, (error) => {
        current = undefined;
        throw error;
      })
      .finally(() => {
        looking = undefined;
      });
    return looking;
  }

  function use(found: Writable): NamedServer {
    current = found;
    system = found.system;
    isDoubted = false;
    onFound(found.server);
    return found.server;
  }

  /** Whether it still takes writes, in the same cluster: another one may have come to its address. */
  async function confirm(): Promise<boolean> {
    const asked = current;
    if (!asked) return false;
    const state = await stateOf(asked.server).catch(() => undefined);
    const isSame = state?.isWritable === true && state.system === asked.system;
    if (isSame) isDoubted = false;
    return isSame;
  }

  return {
    current: () => current?.server,
    look,
    confirm,
    /** The current one, asked again when a connection has ended since it was asked last. */
    async certain(): Promise<NamedServer> {
      const known = current?.server;
      return known && (!isDoubted || (await confirm())) ? known : await look();
    },
    doubt() {
      isDoubted = true;
    },
    drop(server: NamedServer) {
      if (current?.server === server) current = undefined;
    },
    /** Resolves when the look under way, if there is one, is over. */
    async idle() {
      await looking?.catch(() => {});
    },
  };
}

/**
 * The first server that says so, of the cluster that is known already. While none is known, servers of different clusters
 * are refused: what one of them acknowledges the other would never have. Without one the error names what each of them
 * said, unless one says no to everybody.
 */
async function findWritable(
  servers: readonly NamedServer[],
  system: string | undefined,
): Promise<Writable> {
  const states = servers.map(stateOf);
  if (system === undefined) await refuseClusters(servers, states);
  const answers = servers.map(async (server, at) => {
    const state = await states[at]!;
    if (system !== undefined && state.system !== system) throw otherCluster();
    if (!state.isWritable) throw outage('takes no writes');
    return { server, system: state.system };
  });
  try {
    return await Promise.any(answers);
  } catch (error) {
    const { errors } = error as AggregateError;
    const no = errors.find((each) => !isDatabaseAway(each));
    if (no) throw no;
    throw outage(servers.map((server, at) => whyNot(server, errors[at])).join('; '));
  }
}

/** Servers that are away cannot be compared: they are later, before connections are made to them. */
async function refuseClusters(servers: readonly NamedServer[], states: readonly Promise<State>[]) {
  const known = new Map<string, NamedServer>();
  const all = states.map(async (state, at) => {
    known.set((await state).system, servers[at]!);
  });
  await Promise.any(all).catch(() => {});
  await withinMs(Promise.allSettled(all), othersLimitMs, () => undefined);
  if (known.size < 2) return;
  const places = [...known].map(([system, server]) => `${placeOf(server)} (system ${system})`);
  throw new Refusal(
    'unavailable',
    `its hosts are of different clusters, ${places.join(' and ')}: name the primary and the standbys of one`,
  );
}

const placeOf = ({ host, port }: NamedServer) => `${host}:${port}`;

function whyNot(server: NamedServer, { message, code }: NodeJS.ErrnoException): string {
  const place = placeOf(server);
  return `${place} ${(message || code || '').replace(place, '').trim()}`;
}

type State = { isWritable: boolean; system: string };

/** A probe that gets no answer may wait on a connection that is cut off: the next one makes its own. */
async function stateOf(server: NamedServer): Promise<State> {
  const { probe } = server;
  const answer = probe<{ writable: boolean; system: string }[]>`
    select current_setting('transaction_read_only') = 'off' as writable,
           system_identifier::text as system
    from pg_control_system()`;
  return await withinMs(
    answer.then((rows) => {
      const { writable, system } = one(rows);
      return { isWritable: writable, system };
    }),
    answerLimitMs,
    () => {
      server.probe = openProbe(server.url);
      void probe.end({ timeout: 0 });
      throw timedOut(server);
    },
  );
}

export const timedOut = (server: NamedServer) =>
  Object.assign(new Error(`${placeOf(server)} does not answer`), { code: 'ETIMEDOUT' });

const outage = (why: string) => Object.assign(new Error(why), { code: notWritable });

const otherCluster = () => outage('is of another cluster than the server before it');
