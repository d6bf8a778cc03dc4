import { chmodSync, existsSync, mkdtempSync, realpathSync, rmdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isSea } from 'node:sea';
import { fileURLToPath } from 'node:url';
import { Refusal, unavailable } from '../../errors.ts';
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
  /** Off for tests: faster, but a crash of the machine may lose everything. */
  durable?: boolean;
  /** The folder of an installed Postgres to run instead of the embedded one. It contains `bin/postgres`. */
  postgresDir?: string | null;
  /** Keep this process running as root. Only the server runs as an unprivileged account. */
  keepRoot?: boolean;
};

export type Embedded = {
  url: string;
  /** The real path of the data folder. */
  dataDir: string;
  /**
   * Stops using the server. The last process that uses the server shuts it down and waits until it has exited. Works
   * without file access.
   */
  stop(): Promise<void>;
  onExit(listener: (sentence: string) => void): void;
};

/** Starts Postgres for the one process that serves from a data folder. A second such process is rejected. */
export async function startEmbedded(options: EmbeddedOptions): Promise<Embedded> {
  const folder = openFolder(options);
  const serving = openLock(folder, 'serve');
  if (!serving.tryExclusive()) {
    throw unavailable(
      `another process already serves from ${folder.path}: stop it, or use another folder`,
    );
  }
  return await useServer(folder, options, [serving]);
}

/** Uses the running server, or starts one for the duration of a command. */
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
  const inaccessible = code && firstInaccessibleParent(code, account);
  if (inaccessible) {
    say(
      `only Postgres runs as ${account.name}: that account cannot read this program in ${inaccessible}`,
    );
    return folder;
  }
  return { ...folder, account: dropPrivileges(account) };
}

/**
 * All processes that use the server share the `users` lock. Only the process that holds the `start` lock may start or
 * stop the server. So the server runs while any process uses it, and the last process stops it.
 */
async function useServer(folder: DataFolder, options: EmbeddedOptions, locks: Lock[]) {
  const turn = openLock(folder, 'start');
  const users = openLock(folder, 'users');
  locks.push(turn, users);
  let server: Server | undefined;
  // If this process exits without `stop`, an unused server must not stay behind.
  const quit = () => {
    const pid = server?.pid ?? findServer(clusterOf(folder))?.pid;
    if (pid && turn.tryExclusive() && users.tryExclusive()) quitServer(pid);
  };
  const removeListener = () => process.off('exit', quit);
  try {
    await waitForLock(turn.tryExclusive, 'starting or stopping Postgres', turnSeconds);
    process.on('exit', quit);
    server = await findOrStart(folder, options, users);
    void server.gone.then(removeListener, removeListener);
    turn.release();
    return createHandle(folder, server, { turn, users, all: locks, removeListener });
  } catch (error) {
    removeListener();
    for (const lock of locks) lock.close();
    throw describeFolderError(error, `the data folder ${folder.path}`);
  }
}

async function findOrStart(
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

  if (!existsSync(cluster)) say(`creating a database cluster in ${folder.path}`);
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
  throw unavailable(`ASKBACK_POSTGRES_DIR: ${folder} has no bin/postgres and bin/initdb`);
}

async function stopOtherVersion(cluster: string, runtime: string) {
  const running = findServer(cluster);
  if (!running || running.executable === `${runtime}/bin/postgres`) return;
  const server = await adoptServer(cluster);
  if (server) await stopServer(server);
}

function createHandle(
  folder: DataFolder,
  server: Server,
  {
    turn,
    users,
    all,
    removeListener,
  }: { turn: Lock; users: Lock; all: Lock[]; removeListener: () => void },
): Embedded {
  let leaving: Promise<void> | undefined;
  const leave = async () => {
    if (await isLastUser(turn, users)) {
      await stopServer(server);
      try {
        rmdirSync(server.socketFolder);
      } catch {
        // A serving process has no file access and leaves the empty folder.
      }
    }
    removeListener();
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
        if (!leaving) listener(`the embedded Postgres has ended: see ${folder.path}/postgres.log`);
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
    return true; // the data folder and its locks were removed
  }
}

/** A URL for both drivers: `pg` reads the query's `host` like libpq, and `connect` in db.ts removes it for postgres.js. */
const addressAt = (socketFolder: string, program: string) =>
  `postgres://${program}@localhost/${program}?host=${encodeURIComponent(socketFolder)}`;

/** A fresh Postgres for tests and rehearsals. `stop` removes it. */
export async function startTemporary({ durable = false, program = 'temporary' } = {}) {
  const home = mkdtempSync(join(tmpdir(), 'temporary-postgres-'));
  chmodSync(home, 0o755); // under root, the server's account must be able to enter
  const remove = () => rmSync(home, { recursive: true, force: true });
  try {
    const options = { durable, keepRoot: true, say: () => {}, program };
    const { url, stop } = await startEmbedded({ ...options, dataDir: join(home, 'data') });
    return { url, stop: () => stop().finally(remove) };
  } catch (error) {
    remove();
    throw error;
  }
}
