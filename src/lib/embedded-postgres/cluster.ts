import { execFileSync, spawn } from 'node:child_process';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type Refusal, unavailable } from '../../errors.ts';
import { chownTo, type DataFolder, spawnIdentity } from './folder.ts';

const draftPrefix = '.making-';

type ClusterOptions = { runtime: string; socketFolder: string; durable: boolean };

export const clusterOf = ({ path }: Pick<DataFolder, 'path'>) => join(path, 'cluster');

export async function ensureCluster(folder: DataFolder, options: ClusterOptions): Promise<string> {
  const cluster = clusterOf(folder);
  if (!existsSync(cluster)) await makeCluster(folder, options);
  writeSettings(folder, cluster, options);
  return cluster;
}

/**
 * Creates the cluster under a draft name, so that an interrupted start leaves no half cluster. The name is new each
 * time, because the initdb of a killed process may still be writing to the last draft.
 */
async function makeCluster(folder: DataFolder, { runtime, durable }: ClusterOptions) {
  removeDrafts(folder);
  const draft = mkdtempSync(join(folder.path, draftPrefix));
  chownTo(draft, folder.account);

  const location = ['-D', draft, '-U', folder.program, ...(durable ? [] : ['--no-sync'])];
  await run(folder, `${runtime}/bin/initdb`, [...location, ...initdbArguments]);
  const single = ['--single', '-D', draft, '-c', `fsync=${durable ? 'on' : 'off'}`, 'postgres'];
  await run(folder, `${runtime}/bin/postgres`, single, `create database ${folder.program}\n`);
  renameSync(draft, clusterOf(folder));
}

function removeDrafts({ path }: DataFolder) {
  for (const name of readdirSync(path).filter((name) => name.startsWith(draftPrefix))) {
    try {
      rmSync(join(path, name), { recursive: true });
    } catch {}
  }
}

/** The built-in locale provider knows Unicode and sorts the same on every machine. */
const initdbArguments = [
  '--encoding=UTF8',
  '--locale=C',
  '--locale-provider=builtin',
  '--builtin-locale=C.UTF-8',
  '--auth=trust',
  '--no-instructions',
];

async function run(folder: DataFolder, program: string, args: string[], input = '') {
  const child = spawn(program, args, {
    ...spawnIdentity(folder.account),
    cwd: folder.path,
    env: serverEnvironment,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const closed = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  child.stdin.on('error', () => {}); // exited before it read its input: the exit code tells
  child.stdin.end(input);
  const [output, , code] = await Promise.all([text(child.stderr), text(child.stdout), closed]);
  if (code !== 0) throw serverRefusal(output);
}

/** The server gets none of our environment, such as secrets and PG* settings. */
export const serverEnvironment = { LC_ALL: 'C', TZ: 'UTC', PATH: '/usr/bin:/bin' };

/** The settings below need this version. */
const oldestRuntime = 18;

export function refuseUnfitRuntime(cluster: string, runtime: string) {
  const version = execFileSync(`${runtime}/bin/postgres`, ['--version'], {
    encoding: 'utf8',
    env: serverEnvironment,
  });
  const ours = version.match(/ (\d+)/)?.[1];
  if (Number(ours) < oldestRuntime) {
    throw unavailable(
      `ASKBACK_POSTGRES_DIR: ${runtime} is PostgreSQL ${ours}, and a data folder needs ${oldestRuntime} or newer`,
    );
  }
  if (!existsSync(cluster)) return;
  const theirs = readFileSync(join(cluster, 'PG_VERSION'), 'utf8').trim();
  if (theirs === ours) return;
  throw unavailable(
    `the data folder was created by PostgreSQL ${theirs} and this program runs PostgreSQL ${ours}: back it up with the version that created it and restore the backup into an empty folder`,
  );
}

/** Every start writes the settings of this version. The operator's own settings override them. */
function writeSettings(folder: DataFolder, cluster: string, options: ClusterOptions) {
  replaceFile(folder, join(cluster, 'pg_hba.conf'), 'local all all trust\n');
  replaceFile(folder, join(cluster, 'postgresql.conf'), settings(folder, options));
}

function settings(
  { path, program }: DataFolder,
  { socketFolder, durable }: ClusterOptions,
): string {
  const hasOwn = existsSync(join(path, 'postgresql.conf'));
  const all = { unix_socket_directories: socketFolder, ...fixed, ...(durable ? {} : unsafe) };
  const lines = Object.entries(all).map(([name, value]) => `${name} = '${value}'`);
  return [
    `# Written by ${program} at every start. Your own settings go to ../postgresql.conf`,
    ...lines,
    hasOwn ? "include = '../postgresql.conf'\n" : '',
  ].join('\n');
}

/** Settings for a small machine that also runs the service. Larger deployments use their own Postgres. */
const fixed = {
  listen_addresses: '',
  unix_socket_permissions: '0700',
  max_connections: '100',
  shared_buffers: '128MB',
  effective_cache_size: '512MB',
  work_mem: '8MB',
  maintenance_work_mem: '64MB',
  random_page_cost: '1.1',
  jit: 'off',
  io_method: 'sync',
  max_parallel_workers_per_gather: '0',
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_logical_replication_workers: '0',
  max_wal_size: '1GB',
  checkpoint_timeout: '15min',
  timezone: 'UTC',
  log_timezone: 'UTC',
  // Rejected rows are normal, and their text may contain personal data.
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_checkpoints: 'off',
  log_autovacuum_min_duration: '-1',
};

const unsafe = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  max_connections: '300',
};

function replaceFile(folder: DataFolder, path: string, content: string) {
  const draft = `${path}.new`;
  rmSync(draft, { force: true });
  writeFileSync(draft, content, { mode: 0o600, flag: 'wx' });
  chownTo(draft, folder.account);
  renameSync(draft, path);
}

/** Advice for known reasons. For any other reason, the operator sees the message of Postgres. */
const remedies: [RegExp, string][] = [
  [/No space left on device/i, 'the disk is full: free some space and start again'],
  [/Disk quota exceeded/i, 'the disk quota is used up: free some space and start again'],
  [/checkpoint record|invalid (magic|checksum)/i, 'its data is damaged: restore a backup'],
];

export function serverRefusal(output: string): Refusal {
  const remedy = remedies.find(([pattern]) => pattern.test(output))?.[1];
  const said = output.match(/(?:FATAL|PANIC|ERROR|error):\s*(.+)/)?.[1];
  const reason =
    remedy ?? said ?? (output.trim().split('\n').at(-1) || 'it ended without an error message');
  return unavailable(`the embedded Postgres did not start: ${reason}`, {
    code: 'embedded_postgres',
  });
}
