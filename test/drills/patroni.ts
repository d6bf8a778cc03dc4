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

/** The leader is given up this long after it was last seen; an operator's default is 30. */
const timing = { ttl: 5, loop_wait: 1, retry_timeout: 2 };

export type Member = {
  name: string;
  port: number;
  restPort: number;
  /** Patroni, Postgres and its backends. */
  pids: () => number[];
  /** Whether it accepts writes; undefined when it does not say. */
  leads: () => Promise<boolean | undefined>;
  end: () => Promise<void>;
};

/** Three members with synchronous replication, once all of them stream. */
export async function startPatroni(home: string) {
  const etcd = startEtcd(home);
  const members = ['one', 'two', 'three'].map((name) => startMember(home, name, etcd.port));
  const end = async () => {
    await Promise.all(members.map((member) => member.end()));
    await etcd.program.end('SIGKILL');
  };
  try {
    await until('all members stream, one of them synchronously', async () => {
      const roles = (await rolesOf(members)).toSorted();
      return roles.join() === 'leader running,replica running,sync_standby running';
    });
  } catch (error) {
    await end();
    throw error;
  }
  return { members, end };
}

function startEtcd(home: string) {
  const [port, peers] = [freePort(), freePort()];
  const command = [
    ...['etcd', '--name', 'one', '--data-dir', join(home, 'etcd')],
    ...['--listen-client-urls', `http://127.0.0.1:${port}`],
    ...['--advertise-client-urls', `http://127.0.0.1:${port}`],
    ...['--listen-peer-urls', `http://127.0.0.1:${peers}`],
    ...['--initial-advertise-peer-urls', `http://127.0.0.1:${peers}`],
    ...['--initial-cluster', `one=http://127.0.0.1:${peers}`],
  ] as [string, ...string[]];
  return { port, program: startProgram({ home, name: 'etcd', command }) };
}

function startMember(home: string, name: string, etcdPort: number): Member {
  const [port, restPort] = [freePort(), freePort()];
  const dataDir = join(home, `data-${name}`);
  const file = join(home, `${name}.json`);
  // YAML, which Patroni reads, understands JSON.
  writeFileSync(file, JSON.stringify(configuration({ home, name, port, restPort, etcdPort })));
  const patroni: Program = startProgram({ home, name, command: ['patroni', file] });
  const db = connect(`postgres://postgres@127.0.0.1:${port}/postgres`, { connections: 1 });
  const pids = () => {
    const postmaster = postmasterOf(dataDir);
    return [...treeOf(patroni.pid), ...(postmaster ? treeOf(postmaster) : [])];
  };
  return {
    ...{ name, port, restPort, pids },
    async leads() {
      const asked = db<{ waits: boolean }[]>`select pg_is_in_recovery() as waits`;
      const answer = await Promise.race([asked.catch(() => []), sleep(500)]);
      return answer?.[0] && !answer[0].waits;
    },
    async end() {
      const all = pids();
      signalAll(all, 'SIGKILL');
      signalAll(all, 'SIGCONT');
      await patroni.end('SIGKILL');
      await db.end({ timeout: 0 });
    },
  };
}

type Place = { home: string; name: string; port: number; restPort: number; etcdPort: number };

function configuration({ home, name, port, restPort, etcdPort }: Place) {
  const rest = `127.0.0.1:${restPort}`;
  const own = `127.0.0.1:${port}`;
  const trust = ['host all all 127.0.0.1/32 trust', 'host replication all 127.0.0.1/32 trust'];
  const replication = { username: 'replicator', password: 'replicator' };
  const superuser = { username: 'postgres', password: 'postgres' };
  return {
    ...{ scope: 'drill', name },
    restapi: { listen: rest, connect_address: rest },
    etcd3: { host: `127.0.0.1:${etcdPort}` },
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
      ...{ listen: own, connect_address: own },
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
