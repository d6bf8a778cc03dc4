import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from '../../src/lib/db/db.ts';
import { freePort } from '../support/processes/free-port.ts';
import {
  balance,
  isFailure,
  type Line,
  requestLines,
  resumedLines,
  serviceLines,
} from './books.ts';
import { account, createHome, postgresPrograms } from './programs.ts';
import { isAnswering, until } from './reach.ts';
import { stage } from './scene.ts';
import { startTraffic } from './traffic.ts';

const answersPerSecond = 25;
const resumeWithinMs = 5000;
/** 503 tells clients that nothing can be stored now and that a retry may succeed. */
const refusedClearly = 503;

/**
 * Fills the disk of the tables, or of the write-ahead log. A full log ends Postgres, and its supervisor restarts it
 * until there is room. Callers retry failed requests. Sends wait for jobs, and failed jobs wait for the next try of the
 * queue.
 */
export async function fullDisk(which: FullDisk, { short }: { short: boolean }): Promise<Line[]> {
  const seconds = short ? 4 : 12;
  await using ends = new AsyncDisposableStack();
  const home = ends.adopt(createHome(), ({ remove }) => remove());
  const server = ends.adopt(await startOnSmallDisks(home.path), ({ stop }) => stop());
  const db = ends.adopt(connect(server.url, { connections: 2 }), (it) => it.end({ timeout: 1 }));
  const staged = await stage({ databaseUrl: server.url, processes: 1, answers: 20_000 });
  const scene = ends.adopt(staged, ({ close }) => close());
  const { traffic, stop } = startTraffic(scene, {
    answersPerSecond,
    contactsPerSend: 10,
    again: true,
  });
  await sleep(seconds * 500);
  const fullAt = Date.now();
  await server.fill(which);
  await sleep(seconds * 1000);
  const until = Date.now();
  await server.clear(which);
  await server.answers();
  const aliveAt = Date.now();
  await sleep(resumeWithinMs + seconds * 500);
  await stop();
  const failed = traffic.attempts.filter(isFailure);
  const whileFull = failed.filter(({ endedAt }) => endedAt >= fullAt && endedAt <= until);
  const unclear = failed.filter(({ status }) => status !== refusedClearly);
  return [
    ...requestLines(traffic),
    { what: 'requests refused while it was full', count: whileFull.length, atLeast: 1 },
    { what: 'failed requests without a clear refusal', count: unclear.length, atMost: 0 },
    ...resumedLines(traffic, aliveAt, { limitMs: resumeWithinMs, limited: ['answer', 'read'] }),
    ...(await balance(db, scene, traffic)),
    ...serviceLines(scene),
  ];
}

/** The disk with the tables, or with the write-ahead log. */
type FullDisk = 'tables' | 'log';

const sizes = { tables: '160m', log: '48m' };
const postgres = `${postgresPrograms}/postgres`;

/**
 * A Postgres on small in-memory file systems, which a shell mounts in its own namespace. They need no privilege and
 * disappear with the shell. The shell acts as the supervisor and restarts Postgres when it ends.
 */
async function startOnSmallDisks(home: string) {
  const port = freePort();
  const shell = openShell(home);
  const disks = { tables: join(home, 'tables'), log: join(home, 'log') };
  const data = join(disks.tables, 'data');
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  for (const [name, path] of Object.entries(disks)) {
    await shell.run(`mkdir ${path}`);
    await shell.run(`mount -t tmpfs -o size=${sizes[name as FullDisk]} tmpfs ${path}`);
  }
  await shell.run(
    `${postgresPrograms}/initdb -D ${data} -X ${disks.log}/wal --wal-segsize 4 -U postgres -A trust --encoding UTF8 --locale C.UTF-8`,
  );
  const settings = [
    'listen_addresses=127.0.0.1',
    `port=${port}`,
    `unix_socket_directories=${home}`,
    'max_wal_size=24MB',
    'min_wal_size=8MB',
    'shared_buffers=16MB',
    'fsync=off',
  ].map((each) => `-c ${each}`);
  await shell.run(
    `(while [ ! -e ${home}/over ] && kill -0 $$; do ${postgres} -D ${data} ${settings.join(' ')}; sleep 0.5; done) > ${home}/postgres.log 2>&1 &`,
  );
  const answers = () => until('Postgres answers', () => isAnswering(url));
  await answers();
  return {
    url,
    answers,
    /** Fills the disk completely, including recycled WAL segments. */
    async fill(disk: FullDisk) {
      await shell.run(`cat /dev/zero > ${disks[disk]}/ballast`, { fails: true });
      if (disk === 'log') await shell.run(useSegments(port), { fails: true });
    },
    clear: (disk: FullDisk) => shell.run(`rm ${disks[disk]}/ballast`),
    async stop() {
      const end = `${postgresPrograms}/pg_ctl -D ${data} -m immediate stop`;
      await shell.run(`touch ${home}/over; ${end}; wait`, { fails: true });
      await shell.end();
    },
  };
}

const useSegments = (port: number) =>
  `for n in 1 2 3 4 5 6 7 8 9; do ${postgresPrograms}/psql -qh 127.0.0.1 -p ${port} -U postgres -c 'select pg_switch_wal()'; sleep 0.2; done`;

function openShell(home: string) {
  const log = openSync(join(home, 'shell.log'), 'a');
  const own = ['--user', '--map-current-user', '--keep-caps', '--mount'];
  const shell = spawn('unshare', [...own, 'sh'], { ...account, stdio: ['pipe', 'pipe', log] });
  const lines = createInterface({ input: shell.stdout! });
  return {
    async run(command: string, { fails = false } = {}) {
      const said = once(lines, 'line') as Promise<[string]>;
      // Keeps the output of the command apart from its exit code.
      shell.stdin!.write(`{ ${command}\n} >&2\necho $?\n`);
      const [code] = await said;
      if (code !== '0' && !fails) throw new Error(`${command} ended with ${code}`);
    },
    async end() {
      shell.stdin!.end();
      if (shell.exitCode === null) await once(shell, 'exit');
    },
  };
}
