import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from '../../src/lib/db/db.ts';
import { freePort } from '../support/processes/free-port.ts';
import {
  type Program,
  postgresPrograms,
  postmasterOf,
  signalAll,
  startProgram,
  treeOf,
} from './programs.ts';
import { until } from './reach.ts';
import { layWire } from './wire.ts';

/** The leader is given up this long after it was last seen; an operator's default is 30. */
const timing = { ttl: 8, loop_wait: 1, retry_timeout: 3 };

/** Three servers are made one after the other, by a machine that may do much other work. */
const startPatienceMs = 180_000;

export type Member = {
  name: string;
  url: string;
  port: number;
  restPort: number;
  /** Patroni, Postgres and its backends. */
  pids: () => number[];
  /** Everything between this member and all others: clients, members and etcd. */
  cut: () => void;
  mend: () => void;
  /** Whether it accepts writes; undefined when it does not say. */
  leads: () => Promise<boolean | undefined>;
  end: () => Promise<void>;
};

/** Three members with synchronous replication, once all of them stream. */
export async function startPatroni(home: string) {
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
    throw new Error(`Patroni did not start; its members are: ${roles}`, { cause });
  }
  const ends = begun.move();
  return { members, end: () => ends.disposeAsync() };
}

/** Before, Patroni ends: it takes `not_decided` for a number. */
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
  // YAML, which Patroni reads, understands JSON.
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
    async end() {
      signalAll(pids(), 'SIGKILL');
      await patroni.end('SIGKILL');
      await db.end({ timeout: 0 });
      for (const wire of wires) wire.end();
    },
  };
}

type Ports = Record<'ownPort' | 'ownRestPort' | 'port' | 'restPort' | 'etcd', number>;

/** Others come to it over its wires, and so it comes to etcd. */
function configuration({ home, name, ...ports }: Ports & { home: string; name: string }) {
  const at = (port: number) => `127.0.0.1:${port}`;
  const trust = ['host all all 127.0.0.1/32 trust', 'host replication all 127.0.0.1/32 trust'];
  const replication = { username: 'replicator', password: 'replicator' };
  const superuser = { username: 'postgres', password: 'postgres' };
  return {
    scope: 'drill',
    name,
    restapi: { listen: at(ports.ownRestPort), connect_address: at(ports.restPort) },
    // Else it would go to the address that etcd says of itself.
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
      // Postgres' own crash safety is not what is drilled: processes die, the machine does not.
      parameters: { unix_socket_directories: home, fsync: 'off', shared_buffers: '64MB' },
    },
  };
}

/** What Patroni says of each member. */
export async function rolesOf(members: readonly Pick<Member, 'restPort'>[]): Promise<string[]> {
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

/** One address with all members in it, of which the service finds the one that leads. */
export const addressOf = (members: readonly Pick<Member, 'port'>[]) =>
  `postgres://postgres@${members.map(({ port }) => `127.0.0.1:${port}`).join()}/postgres?target_session_attrs=read-write`;

/** The first of these members that accepts writes, and when. */
export async function nextLeader(candidates: readonly Member[]) {
  let leader: Member | undefined;
  await until('another member leads', async () => {
    const leading = await Promise.all(candidates.map((member) => member.leads()));
    leader = candidates[leading.indexOf(true)];
    return leader !== undefined;
  });
  return { leader: leader!, at: Date.now() };
}
