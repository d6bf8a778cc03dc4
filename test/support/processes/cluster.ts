import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from '../../../src/lib/db/db.ts';
import { ensureRuntime, fromCheckout } from '../../../src/lib/embedded-postgres/archive.ts';
import { freePort } from './free-port.ts';

/** An unprivileged account, because Postgres refuses to run as root. */
const account = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : undefined;
const environment = { LC_ALL: 'C', TZ: 'UTC', PATH: '/usr/bin:/bin' };
const startLimitMs = 120_000;

export type TestServer = Awaited<ReturnType<typeof launchServer>>;

/** A primary and its streaming replicas, each a separate Postgres, until the test ends. */
export async function startCluster(t: { after: (end: () => Promise<void>) => void }) {
  const home = mkdtempSync(join(tmpdir(), 'askback-cluster-'));
  chmodSync(home, 0o755);
  const servers: TestServer[] = [];
  t.after(async () => {
    await Promise.all(servers.map((server) => server.kill()));
    rmSync(home, { recursive: true, force: true });
  });
  const runtime = unpack(home);
  const folder = makeFolder(join(home, 'primary'));
  run(`${runtime}/bin/initdb`, [
    '-D',
    folder,
    '-U',
    'postgres',
    '--auth=trust',
    '--no-sync',
    '--no-instructions',
    '--encoding=UTF8',
    '--locale=C',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
  ]);
  writeFileSync(join(folder, 'postgresql.auto.conf'), settings);
  const start = async (cluster: string, port = freePort()) => {
    const server = await launchServer(`${runtime}/bin/postgres`, cluster, port);
    servers.push(server);
    return server;
  };
  const primary = await start(folder);
  return {
    primary,
    /** Copies the primary while it is running, and then follows it. */
    async addReplica() {
      const copy = join(home, `replica${servers.length}`);
      await copyServing(primary.url, folder, copy);
      appendFileSync(
        join(copy, 'postgresql.auto.conf'),
        `primary_conninfo = 'host=127.0.0.1 port=${primary.port} user=postgres'\n`,
      );
      writeFileSync(join(copy, 'standby.signal'), '');
      own(copy);
      return await start(copy);
    },
    restart: (server: TestServer) => start(server.folder, server.port),
  };
}

const settings = `
fsync = off
full_page_writes = off
wal_level = replica
hot_standby = on
max_wal_senders = 5
wal_keep_size = 512MB
max_connections = 200
wal_receiver_status_interval = 1s
`;

async function launchServer(program: string, folder: string, port: number) {
  const words = ['-D', folder, '-p', String(port), '-c', 'listen_addresses=127.0.0.1'];
  const child = spawn(program, [...words, '-c', 'unix_socket_directories='], {
    ...account,
    cwd: folder,
    env: environment,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    log += text;
  });
  const gone = once(child, 'exit');
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  await answering(url, child, () => log);
  return {
    folder,
    port,
    url,
    log: () => log,
    /** Kills all of its processes, like a crash of the machine. */
    async kill() {
      if (child.exitCode === null && child.signalCode === null) {
        signalAll(child, 'SIGCONT');
        child.kill('SIGQUIT');
      }
      await gone;
    },
    /** Stops all of its processes until `resume`. */
    pause: () => signalAll(child, 'SIGSTOP'),
    resume: () => signalAll(child, 'SIGCONT'),
  };
}

async function answering(url: string, child: ChildProcess, log: () => string) {
  const until = performance.now() + startLimitMs;
  for (;;) {
    const db = connect(url, { connections: 1 });
    try {
      await db`select 1`;
      return;
    } catch (error) {
      if (child.exitCode !== null || performance.now() > until)
        throw new Error(`a Postgres did not start: ${log()}`, { cause: error });
    } finally {
      await db.end({ timeout: 1 });
    }
    await sleep(20);
  }
}

/** Copies a running server like `pg_basebackup`: the copy starts from the checkpoint that the label names. */
async function copyServing(url: string, from: string, to: string) {
  const db = connect(url, { connections: 1 });
  const session = await db.reserve();
  try {
    await session`select pg_backup_start('copy', true)`;
    run('/bin/cp', ['-a', `${from}/.`, makeFolder(to)]);
    rmSync(join(to, 'postmaster.pid'));
    const [stopped] = await session<{ labelfile: string }[]>`
      select labelfile from pg_backup_stop(false)`;
    writeFileSync(join(to, 'backup_label'), stopped!.labelfile);
  } finally {
    session.release();
    await db.end({ timeout: 1 });
  }
}

function unpack(home: string): string {
  const owner = { uid: account?.uid ?? process.getuid!(), gid: account?.gid ?? process.getgid!() };
  const folder = {
    path: makeFolder(join(home, 'runtime')),
    program: 'tests',
    account: { ...owner, name: 'tests', isOther: account !== undefined },
  };
  return ensureRuntime(folder, fromCheckout());
}

function makeFolder(path: string): string {
  mkdirSync(path, { mode: 0o700 });
  if (account) chownSync(path, account.uid, account.gid);
  chmodSync(path, path.endsWith('runtime') ? 0o755 : 0o700);
  return path;
}

/** Also gives the files that this process added to the server's account. */
function own(path: string) {
  chmodSync(path, 0o700);
  if (account) run('/bin/chown', ['-R', `${account.uid}:${account.gid}`, path], { uid: 0, gid: 0 });
}

function run(program: string, words: string[], as = account) {
  const { status, stderr } = spawnSync(program, words, {
    ...as,
    cwd: '/',
    env: environment,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`${program} failed: ${stderr}`);
}

/** Signals all processes, because the workers would survive the first one. */
function signalAll(child: ChildProcess, signal: NodeJS.Signals) {
  const task = `/proc/${child.pid}/task/${child.pid}/children`;
  const children = readFileSync(task, 'utf8').trim().split(' ').filter(Boolean).map(Number);
  for (const pid of [child.pid!, ...children]) {
    try {
      process.kill(pid, signal);
    } catch {
      // a backend has ended since the list was read
    }
  }
}
