import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect as connectSocket, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect, isDatabaseAway, one } from '../../src/lib/db/db.ts';
import { freePort } from '../support/processes/free-port.ts';
import {
  balance,
  isFailure,
  type Line,
  requestLines,
  resumedLines,
  servedAgain,
  serviceLines,
} from './books.ts';
import {
  createHome,
  type Program,
  postgresPrograms,
  postmasterOf,
  signalAll,
  startProgram,
  treeOf,
} from './programs.ts';
import { startLeaderProxy } from './proxy.ts';
import { leadsOnlyToPrimary, until } from './reach.ts';
import { type DrillScene, stage } from './scene.ts';
import { startTraffic, type Traffic } from './traffic.ts';

/**
 * `cut off` drops all traffic between the leader and its clients, the other members and etcd, without breaking
 * connections. After the network is mended, the old leader must follow the new one.
 */
type Way = 'killed' | 'cut off' | 'handed over';

const paces = { whole: 25, short: 8 };
const resumeWithinMs = 5000;
const [beforeMs, afterMs] = [6000, 14_000];
/**
 * Limit of short drills. They only check that callers are served at all, because a busy machine may delay them this
 * long.
 */
const servedWithinMs = 120_000;

/** How the service finds the leader: its URL lists all members, or HAProxy routes to the leader. */
type Route = 'hosts' | 'proxy';
type Members = readonly Member[];
type Failover = { way: Way; route: Route };

/** A cluster of three Postgres under Patroni loses its leader, while callers retry failed requests. */
export async function failover({ way, route }: Failover, { short }: { short: boolean }) {
  await using ends = new AsyncDisposableStack();
  const home = ends.adopt(createHome(), ({ remove }) => remove());
  const { members } = ends.adopt(await startPatroni(home.path), ({ end }) => end());
  const { leader } = await nextLeader(members);
  const databaseUrl = route === 'proxy' ? await throughProxy(home.path) : addressOf(members);
  const answers = (short ? paces.short : paces.whole) * 180;
  const staged = await stage({ databaseUrl, leaderUrl: leader.url, processes: 2, answers });
  const scene = ends.adopt(staged, ({ close }) => close());
  return await loseLeader({ way, leader, members, short }, scene);

  async function throughProxy(path: string): Promise<string> {
    const { url, program } = startLeaderProxy(path, members);
    ends.defer(() => program.end());
    await until('the proxy leads to the leader', () => leadsOnlyToPrimary(url, members.length));
    return url;
  }
}

type Loss = { way: Way; leader: Member; members: Members; short: boolean };

async function loseLeader({ way, leader, members, short }: Loss, scene: DrillScene) {
  const answersPerSecond = short ? paces.short : paces.whole;
  const { traffic, stop } = startTraffic(scene, {
    answersPerSecond,
    contactsPerSend: 10,
    again: true,
  });
  const goOn = async (after: string, ms: number): Promise<Line[]> => {
    if (short) return [await servedAgain(traffic, { after, limitMs: servedWithinMs })];
    await sleep(ms);
    return [];
  };
  const served = await goOn('the beginning', beforeMs);
  const brokenAt = Date.now();
  await breakLeader(way, leader);
  const others = members.filter((member) => member !== leader);
  const { at: aliveAt } = await nextLeader(others);
  served.push(...(await goOn('another member led', afterMs / 2)));
  if (way === 'cut off') leader.mend();
  if (way === 'cut off' || !short)
    served.push(...(await goOn('the network was mended', afterMs / 2)));
  await stop();
  return [
    { what: 'ms until another member led', count: aliveAt - brokenAt },
    ...requestLines(traffic),
    { what: 'failed requests, asked again', count: traffic.attempts.filter(isFailure).length },
    ...served,
    ...(short ? [] : resumedLines(traffic, aliveAt, { limitMs: resumeWithinMs })),
    ...(await balanceAtLeader(members, scene, traffic)),
    { what: 'members', count: (await rolesOf(others)).toSorted().join(', ') },
    ...serviceLines(scene),
  ];
}

/** Retries at the new leader, because a slow machine may change leaders once more in the meantime. */
async function balanceAtLeader(members: Members, scene: DrillScene, traffic: Traffic) {
  const giveUpAt = performance.now() + servedWithinMs;
  for (;;) {
    try {
      return await readBooks(members, scene, traffic);
    } catch (error) {
      if (!isDatabaseAway(error) || performance.now() > giveUpAt) throw error;
      await sleep(1000);
    }
  }
}

/** Leader changes are counted by the timeline, which starts at 1. */
async function readBooks(members: Members, scene: DrillScene, traffic: Traffic) {
  const { leader } = await nextLeader(members);
  const db = connect(leader.url, { connections: 2 });
  try {
    const { timeline } = one(
      await db<{ timeline: number }[]>`
        select ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int as timeline`,
    );
    const changes = { what: 'changes of leaders', count: timeline - 1, atLeast: 1 };
    return [changes, ...(await balance(db, scene, traffic))];
  } finally {
    await db.end({ timeout: 1 });
  }
}

async function breakLeader(way: Way, leader: Member) {
  if (way === 'killed') return signalAll(leader.pids(), 'SIGKILL');
  if (way === 'cut off') return leader.cut();
  const answer = await fetch(`http://127.0.0.1:${leader.restPort}/switchover`, {
    method: 'POST',
    body: JSON.stringify({ leader: leader.name }),
  });
  if (!answer.ok) throw new Error(`no switchover: ${answer.status} ${await answer.text()}`);
}

/** Patroni replaces a leader that was not seen for `ttl` seconds. The default is 30. */
const timing = { ttl: 8, loop_wait: 1, retry_timeout: 3 };

/** Three servers are created one after the other, possibly on a busy machine. */
const startPatienceMs = 180_000;

type Member = {
  name: string;
  url: string;
  port: number;
  restPort: number;
  /** Processes of Patroni and Postgres, including backends. */
  pids: () => number[];
  /** Drops all traffic between this member and clients, other members and etcd. */
  cut: () => void;
  mend: () => void;
  /** True if the member accepts writes, undefined if it does not respond. */
  leads: () => Promise<boolean | undefined>;
  /** The last lines of the logs of Patroni and Postgres. */
  log: () => string;
  end: () => Promise<void>;
};

/** Starts three members with synchronous replication and waits until all of them stream. */
async function startPatroni(home: string) {
  await using begun = new AsyncDisposableStack();
  const etcd = startEtcd(home);
  begun.defer(() => etcd.program.end('SIGKILL'));
  await until('etcd has decided on a version', () => hasVersion(etcd.port));
  const members = await Promise.all(
    ['one', 'two', 'three'].map((name) => startMember(home, name, etcd.port)),
  );
  for (const member of members) begun.defer(() => member.end());
  let roles = '';
  const areStreaming = async () => {
    roles = (await rolesOf(members)).toSorted().join();
    return roles === 'leader running,replica running,sync_standby running';
  };
  try {
    await until('all members stream, one of them synchronously', areStreaming, startPatienceMs);
  } catch (cause) {
    const logs = members.map(({ log }) => `\n${log()}`).join('\n');
    throw new Error(`Patroni did not start; its members are: ${roles}${logs}`, { cause });
  }
  const ends = begun.move();
  return { members, end: () => ends.disposeAsync() };
}

/** Before etcd knows its version it reports `not_decided`, with which Patroni exits. */
async function hasVersion(etcdPort: number): Promise<boolean> {
  const asked = fetch(`http://127.0.0.1:${etcdPort}/version`, {
    signal: AbortSignal.timeout(1000),
  });
  const answer = asked.then((it) => it.json() as Promise<{ etcdcluster: string }>);
  return await answer.then(
    ({ etcdcluster }) => /^\d/.test(etcdcluster),
    () => false,
  );
}

function startEtcd(home: string) {
  const [port, peers] = [freePort(), freePort()];
  const command = [
    'etcd',
    '--name',
    'one',
    '--data-dir',
    join(home, 'etcd'),
    '--listen-client-urls',
    `http://127.0.0.1:${port}`,
    '--advertise-client-urls',
    `http://127.0.0.1:${port}`,
    '--listen-peer-urls',
    `http://127.0.0.1:${peers}`,
    '--initial-advertise-peer-urls',
    `http://127.0.0.1:${peers}`,
    '--initial-cluster',
    `one=http://127.0.0.1:${peers}`,
  ] as [string, ...string[]];
  return { port, program: startProgram({ home, name: 'etcd', command }) };
}

async function startMember(home: string, name: string, etcdPort: number): Promise<Member> {
  const [ownPort, ownRestPort] = [freePort(), freePort()];
  const wires = await Promise.all([ownPort, ownRestPort, etcdPort].map(layWire));
  const [port, restPort, etcd] = wires.map((wire) => wire.port) as [number, number, number];
  const dataDir = join(home, `data-${name}`);
  const file = join(home, `${name}.json`);
  // Patroni reads YAML, which includes JSON.
  writeFileSync(
    file,
    JSON.stringify(configuration({ home, name, ownPort, ownRestPort, port, restPort, etcd })),
  );
  const patroni: Program = startProgram({ home, name, command: ['patroni', file] });
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  const db = connect(url, { connections: 1 });
  const pids = () => {
    const postmaster = postmasterOf(dataDir);
    return [...treeOf(patroni.pid), ...(postmaster ? treeOf(postmaster) : [])];
  };
  return {
    name,
    url,
    port,
    restPort,
    pids,
    cut: () => wires.forEach((wire) => void wire.cut()),
    mend: () => wires.forEach((wire) => void wire.mend()),
    async leads() {
      const asked = db<{ waits: boolean }[]>`select pg_is_in_recovery() as waits`;
      const answer = await Promise.race([asked.catch(() => []), sleep(500)]);
      return answer?.[0] && !answer[0].waits;
    },
    log: () => readFileSync(patroni.logFile, 'utf8').split('\n').slice(-15).join('\n'),
    async end() {
      signalAll(pids(), 'SIGKILL');
      await patroni.end('SIGKILL');
      await db.end({ timeout: 0 });
      for (const wire of wires) wire.end();
    },
  };
}

type Ports = Record<'ownPort' | 'ownRestPort' | 'port' | 'restPort' | 'etcd', number>;

/** Others connect to the member through its wires, and it connects to etcd through one. */
function configuration({ home, name, ...ports }: Ports & { home: string; name: string }) {
  const at = (port: number) => `127.0.0.1:${port}`;
  const trust = ['host all all 127.0.0.1/32 trust', 'host replication all 127.0.0.1/32 trust'];
  const replication = { username: 'replicator', password: 'replicator' };
  const superuser = { username: 'postgres', password: 'postgres' };
  return {
    scope: 'drill',
    name,
    restapi: { listen: at(ports.ownRestPort), connect_address: at(ports.restPort) },
    // Without this, Patroni would use the address that etcd advertises.
    etcd3: { hosts: [at(ports.etcd)], use_proxies: true },
    bootstrap: {
      dcs: {
        ...timing,
        synchronous_mode: true,
        postgresql: { use_pg_rewind: true, parameters: { max_connections: 200 } },
      },
      initdb: [{ encoding: 'UTF8' }, { locale: 'C.UTF-8' }],
      users: { replicator: { password: 'replicator', options: ['replication'] } },
    },
    postgresql: {
      listen: at(ports.ownPort),
      connect_address: at(ports.port),
      data_dir: join(home, `data-${name}`),
      pgpass: join(home, `pgpass-${name}`),
      bin_dir: postgresPrograms,
      authentication: { superuser, replication, rewind: superuser },
      pg_hba: trust,
      // Only processes are killed, never the machine, so fsync is not needed.
      parameters: { unix_socket_directories: home, fsync: 'off', shared_buffers: '64MB' },
    },
  };
}

/** Members with their roles, from Patroni. */
async function rolesOf(members: readonly Pick<Member, 'restPort'>[]): Promise<string[]> {
  for (const { restPort } of members) {
    const cluster = await fetch(`http://127.0.0.1:${restPort}/cluster`, {
      signal: AbortSignal.timeout(1000),
    })
      .then((answer) => answer.json() as Promise<{ members: { role: string; state: string }[] }>)
      .catch(() => undefined);
    if (cluster) return cluster.members.map(({ role, state }) => `${role} ${state}`);
  }
  return [];
}

/** A URL with all members, in which the service finds the leader. */
const addressOf = (members: readonly Pick<Member, 'port'>[]) =>
  `postgres://postgres@${members.map(({ port }) => `127.0.0.1:${port}`).join()}/postgres?target_session_attrs=read-write`;

/** The first of these members that accepts writes, and the time. */
async function nextLeader(candidates: readonly Member[]) {
  let leader: Member | undefined;
  await until('another member leads', async () => {
    const leading = await Promise.all(candidates.map((member) => member.leads()));
    leader = candidates[leading.indexOf(true)];
    return leader !== undefined;
  });
  return { leader: leader!, at: Date.now() };
}

/** A proxy to a local port that can silently drop all traffic. */
type Wire = { port: number; cut: () => void; mend: () => void; end: () => void };

/**
 * While the wire is cut, connections stay open and silent, and new ones are accepted and silent too. This resembles a
 * switch that drops packets, except that the kernel still acknowledges them, and is harder to detect than a missing
 * network. Mending breaks the old connections, because their ends have given up.
 */
async function layWire(to: number): Promise<Wire> {
  const open = new Set<Socket>();
  let isCut = false;
  const server = createServer({ noDelay: true }, (near) => {
    const far = connectSocket({ port: to, host: '127.0.0.1', noDelay: true });
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(socket);
      socket.on('data', (bytes) => void (isCut || other.write(bytes)));
      socket.on('end', () => void (isCut || other.end()));
      socket.on('error', () => {});
      socket.on('close', () => {
        open.delete(socket);
        if (!isCut) other.destroy();
      });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const breakAll = () => {
    for (const socket of open) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    cut() {
      isCut = true;
    },
    mend() {
      breakAll();
      isCut = false;
    },
    end() {
      server.close();
      breakAll();
    },
  };
}
