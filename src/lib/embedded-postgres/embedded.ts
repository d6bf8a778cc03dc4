import { chmodSync, existsSync, mkdtempSync, realpathSync, rmdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isSea } from 'node:sea';
import { fileURLToPath } from 'node:url';
import { Refusal } from '../../errors.ts';
import { ensureRuntime, ownDistribution, removeOtherRuntimes, runtimeOf } from './archive.ts';
import { clusterOf, ensureCluster, refuseUnfitRuntime } from './cluster.ts';
import {
  accountWarning,
  type DataFolder,
  describeFolderError,
  dropPrivileges,
  firstInaccessibleParent,
  makeSocketFolder,
  prepareFolder,
} from './folder.ts';
import { type Lock, openLock, waitForLock } from './lock.ts';
import {
  adoptServer,
  findServer,
  quitServer,
  type Server,
  startServer,
  stopServer,
} from './server.ts';

const turnSeconds = 90;

export type EmbeddedOptions = {
  program: string;
  dataDir: string;
  say: (sentence: string) => void;
  /** Off for tests: quicker, and a crash of the machine may lose everything. */
  durable?: boolean;
  /** A Postgres that is installed on this machine, run in place of the embedded one: the folder of `bin/postgres`. */
  postgresDir?: string | null;
  /** Only the server runs as an unprivileged account; this process stays root. */
  keepRoot?: boolean;
};

export type Embedded = {
  url: string;
  /** The real folder of the data; the folder that was asked for may be a link. */
  dataDir: string;
  /** Stops using the server. The last process to do so stops it and returns when it is gone. Needs no files. */
  stop(): Promise<void>;
  onExit(listener: (sentence: string) => void): void;
};

/**
 * A Postgres that comes with the program and runs next to it, for a deployment without one of its own.
 *
 * For the one process that serves from a data folder. A second one is refused.
 */
export async function startEmbedded(options: EmbeddedOptions): Promise<Embedded> {
  const folder = openFolder(options);
  const serving = openLock(folder, 'serve');
  if (!serving.tryExclusive()) {
    throw new Refusal(
      'unavailable',
      `another process serves from ${folder.path} already: stop it, or use another folder`,
    );
  }
  return await useServer(folder, options, [serving]);
}

/** For a command. It uses the server of the process that serves, or starts one for the moment. */
export async function attachEmbedded(options: EmbeddedOptions): Promise<Embedded> {
  return await useServer(openFolder(options), options, []);
}

function openFolder({ program, dataDir, say, keepRoot = false }: EmbeddedOptions): DataFolder {
  const folder = prepareFolder(dataDir, program);
  const { account } = folder;
  if (!account.isOther || keepRoot) return folder;
  const warning = accountWarning(folder);
  if (warning) say(warning);

  const code = isSea() ? undefined : fileURLToPath(new URL('.', import.meta.url));
  const closed = code && firstInaccessibleParent(code, account);
  if (closed) {
    say(
      `only Postgres runs as ${account.name}: that account cannot read this program in ${closed}`,
    );
    return folder;
  }
  return { ...folder, account: dropPrivileges(account) };
}

/**
 * All processes that use the server share one lock, and starting and stopping happens under another, one
 * process at a time: so the server runs while any process uses it, and the last process can see that it is.
 */
async function useServer(folder: DataFolder, options: EmbeddedOptions, locks: Lock[]) {
  const turn = openLock(folder, 'start');
  const users = openLock(folder, 'users');
  locks.push(turn, users);
  let server: Server | undefined;
  // A process that ends before it could stop the server leaves none behind that nobody uses.
  const quit = () => {
    const pid = server?.pid ?? findServer(clusterOf(folder))?.pid;
    if (pid && turn.tryExclusive() && users.tryExclusive()) quitServer(pid);
  };
  const forget = () => process.off('exit', quit);
  try {
    await waitForLock(turn.tryExclusive, 'starting or stopping Postgres', turnSeconds);
    process.on('exit', quit);
    server = await bringUp(folder, options, users);
    void server.gone.then(forget, forget);
    turn.release();
    return usage(folder, server, { turn, users, all: locks, forget });
  } catch (error) {
    forget();
    for (const lock of locks) lock.close();
    throw describeFolderError(error, `the data folder ${folder.path}`);
  }
}

async function bringUp(
  folder: DataFolder,
  { say, durable = true, postgresDir }: EmbeddedOptions,
  users: Lock,
) {
  const distribution = postgresDir ? undefined : ownDistribution();
  const cluster = clusterOf(folder);
  const runtime = distribution
    ? runtimeOf(folder, distribution.id)
    : installedRuntime(postgresDir!);
  if (users.tryExclusive()) await stopOtherVersion(cluster, runtime);
  users.tryShared();
  const running = await adoptServer(cluster);
  if (running) return running;

  if (!existsSync(cluster)) say(`making a Postgres in ${folder.path} (a moment, once)`);
  if (distribution) ensureRuntime(folder, distribution);
  refuseUnfitRuntime(cluster, runtime);
  removeOtherRuntimes(folder, runtime);
  const socketFolder = makeSocketFolder(folder);
  await ensureCluster(folder, { runtime, socketFolder, durable });
  return await startServer(folder, { runtime, cluster });
}

function installedRuntime(folder: string): string {
  if (existsSync(join(folder, 'bin/postgres')) && existsSync(join(folder, 'bin/initdb'))) {
    return realpathSync(folder);
  }
  throw new Refusal(
    'unavailable',
    `ASKBACK_POSTGRES_DIR: ${folder} has no bin/postgres and bin/initdb`,
  );
}

async function stopOtherVersion(cluster: string, runtime: string) {
  const found = findServer(cluster);
  if (!found || found.executable === `${runtime}/bin/postgres`) return;
  const server = await adoptServer(cluster);
  if (server) await stopServer(server);
}

function usage(
  folder: DataFolder,
  server: Server,
  { turn, users, all, forget }: { turn: Lock; users: Lock; all: Lock[]; forget: () => void },
): Embedded {
  let leaving: Promise<void> | undefined;
  const leave = async () => {
    if (await isLastUser(turn, users)) {
      await stopServer(server);
      try {
        rmdirSync(server.socketFolder);
      } catch {
        // A process that serves may write no files, and leaves the empty folder.
      }
    }
    forget();
    for (const lock of all) lock.close();
  };
  return {
    url: addressAt(server.socketFolder, folder.program),
    dataDir: folder.path,
    stop: () => {
      leaving ??= leave();
      return leaving;
    },
    onExit: (listener) => {
      server.gone.then(() => {
        if (!leaving)
          listener(`the embedded Postgres has ended; ${folder.path}/postgres.log says why`);
      });
    },
  };
}

async function isLastUser(turn: Lock, users: Lock): Promise<boolean> {
  try {
    await waitForLock(turn.tryExclusive, 'starting or stopping Postgres', turnSeconds);
    return users.tryExclusive();
  } catch (error) {
    if (error instanceof Refusal) throw error;
    return true; // the data folder was removed with its locks: no other process can use it
  }
}

/**
 * An address that both drivers understand: `pg` reads `host` from the query as libpq does; `connect` in
 * lib/db/db.ts takes it out for postgres.js, which would hand it to the server as a setting.
 */
const addressAt = (socketFolder: string, program: string) =>
  `postgres://${program}@localhost/${program}?host=${encodeURIComponent(socketFolder)}`;

/** A fresh Postgres for tests. `stop` removes it; unless it is durable, a crash of the machine may lose it. */
export async function startTemporary({ durable = false } = {}) {
  const home = mkdtempSync(join(tmpdir(), 'temporary-postgres-'));
  chmodSync(home, 0o755); // the account that the server runs as under root must be able to enter
  const remove = () => rmSync(home, { recursive: true, force: true });
  try {
    const options = { durable, keepRoot: true, say: () => {}, program: 'temporary' };
    const { url, stop } = await startEmbedded({ ...options, dataDir: join(home, 'data') });
    return { url, stop: () => stop().finally(remove) };
  } catch (error) {
    remove();
    throw error;
  }
}
