import { existsSync } from 'node:fs';
import { isSea } from 'node:sea';
import { fileURLToPath } from 'node:url';
import { Refusal } from '../../errors.ts';
import { barrier, become } from './account.ts';
import { clusterOf, ensureCluster } from './cluster.ts';
import { ownDistribution } from './distribution.ts';
import { asSentence } from './failure.ts';
import { type DataFolder, prepareFolder } from './folder.ts';
import { type Lock, openLock, waitFor } from './lock.ts';
import { findServer } from './process.ts';
import { adoptServer, type Server, startServer, stopServer } from './server.ts';
import { addressAt, makeSocketFolder, removeSocketFolder } from './socket.ts';
import { ensureRuntime, removeOtherRuntimes, runtimeOf } from './unpack.ts';

const turnSeconds = 90;

export type EmbeddedOptions = {
  dataDir: string;
  /** Shows the operator what takes long, and what is not as it should be. */
  say: (sentence: string) => void;
  /** Off for tests: quicker, and a crash of the machine may lose everything. */
  durable?: boolean;
  /** Only the server becomes an unprivileged account, this process stays what it is. */
  keepRoot?: boolean;
};

/** The embedded Postgres while we use it. */
export type Embedded = {
  url: string;
  /** Where the data really lies; use it instead of the folder that was asked for, which may be a link. */
  dataDir: string;
  /** Leaves the server. The last to leave stops it and returns when it is gone. Needs no files. */
  stop(): Promise<void>;
  /** Reports once that the server ended without having been asked to. */
  onExit(report: (sentence: string) => void): void;
};

/** For the one process that serves from a data folder. A second one is refused. */
export async function startEmbedded(options: EmbeddedOptions): Promise<Embedded> {
  const folder = openFolder(options);
  const serving = openLock(folder, 'serve');
  if (!serving.tryExclusive()) {
    throw new Refusal(
      'unavailable',
      `another askback serves from ${folder.path} already: stop it, or set ASKBACK_DATA_DIR to another folder`,
    );
  }
  return await join(folder, options, [serving]);
}

/** For a command, next to a process that serves or alone: then the server runs for the moment. */
export async function attachEmbedded(options: EmbeddedOptions): Promise<Embedded> {
  return await join(openFolder(options), options, []);
}

/** The folder, and ourselves as the account that may use it. */
function openFolder({ dataDir, say, keepRoot = false }: EmbeddedOptions): DataFolder {
  const { path, account } = prepareFolder(dataDir);
  if (!account.give || keepRoot) return { path, account };

  const program = isSea() ? undefined : fileURLToPath(new URL('.', import.meta.url));
  const closed = program && barrier(program, account);
  if (closed) {
    say(`only Postgres becomes ${account.name}: that account cannot read askback in ${closed}`);
    return { path, account };
  }
  return { path, account: become(account) };
}

/**
 * Everybody who uses the server shares one lock, and starting and stopping happens under another, one
 * process at a time: so the server is up while anybody is in, and the last one out knows that it is.
 */
async function join(folder: DataFolder, options: EmbeddedOptions, locks: Lock[]) {
  const turn = openLock(folder, 'start');
  const users = openLock(folder, 'users');
  locks.push(turn, users);
  try {
    await waitFor(turn.tryExclusive, 'starting or stopping Postgres', turnSeconds);
    const server = await bringUp(folder, options, users);
    turn.release();
    return membership(folder, server, { turn, users, all: locks });
  } catch (error) {
    for (const lock of locks) lock.close();
    throw asSentence(error, `the data folder ${folder.path}`);
  }
}

async function bringUp(folder: DataFolder, { say, durable = true }: EmbeddedOptions, users: Lock) {
  const distribution = ownDistribution();
  const cluster = clusterOf(folder);
  const runtime = runtimeOf(folder, distribution.id);
  if (users.tryExclusive()) await stopOtherVersion(cluster, runtime);
  users.tryShared();
  const running = await adoptServer(cluster);
  if (running) return running;

  if (!existsSync(cluster)) say(`making a Postgres in ${folder.path} (a moment, once)`);
  ensureRuntime(folder, distribution);
  removeOtherRuntimes(folder, runtime);
  const socketFolder = makeSocketFolder(folder);
  await ensureCluster(folder, { runtime, socketFolder, durable });
  return await startServer(folder, { runtime, cluster });
}

/** A server of an older askback that is still running, when no process uses it. */
async function stopOtherVersion(cluster: string, runtime: string) {
  const found = findServer(cluster);
  if (!found || found.executable === `${runtime}/bin/postgres`) return;
  const server = await adoptServer(cluster);
  if (server) await stopServer(server);
}

type Held = { turn: Lock; users: Lock; all: Lock[] };

function membership(folder: DataFolder, server: Server, { turn, users, all }: Held): Embedded {
  let leaving: Promise<void> | undefined;
  const leave = async () => {
    if (await isLastOut(turn, users)) {
      await stopServer(server);
      removeSocketFolder(server.socketFolder);
    }
    for (const lock of all) lock.close();
  };
  return {
    url: addressAt(server.socketFolder),
    dataDir: folder.path,
    stop: () => {
      leaving ??= leave();
      return leaving;
    },
    onExit: (report) => {
      server.gone.then(() => {
        if (!leaving)
          report(`the embedded Postgres has ended; ${folder.path}/postgres.log says why`);
      });
    },
  };
}

async function isLastOut(turn: Lock, users: Lock): Promise<boolean> {
  try {
    await waitFor(turn.tryExclusive, 'starting or stopping Postgres', turnSeconds);
    return users.tryExclusive();
  } catch (error) {
    if (error instanceof Refusal) throw error;
    return true; // the data folder was removed under us, locks and all: no other process can come
  }
}
