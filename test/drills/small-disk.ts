import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { freePort } from '../support/processes/free-port.ts';
import { account, postgresPrograms } from './programs.ts';
import { isAnswering, until } from './reach.ts';

/** The disk with the tables, or the one with the write-ahead log. */
export type FullDisk = 'tables' | 'log';

const sizes = { tables: '160m', log: '48m' };
const postgres = `${postgresPrograms}/postgres`;

/**
 * A Postgres whose disks are small file systems in memory, which a shell in a mount namespace of its own has
 * made: that needs no privilege, and they are gone with it. The shell starts Postgres again when it ends, as a
 * supervisor does.
 */
export async function startOnSmallDisks(home: string) {
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
    /** Until nothing more fits, not even a little; segments of the log that are ready to be used again are used up. */
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
      // What a command prints must not be taken for its code.
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
