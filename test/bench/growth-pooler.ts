import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createHome, startProgram } from '../drills/programs.ts';
import { isAnswering, until } from '../drills/reach.ts';
import { freePort } from '../support/processes/free-port.ts';
import { pgbouncer, pgbouncerVersion } from '../support/processes/pgbouncer.ts';

const clientsAtMost = 400;
const serverConnections = 20;

/** PgBouncer in transaction mode: when this machine has it, and Postgres listens for others than its own account. */
export function hasPooler(databaseUrl: string): boolean {
  if (new URL(databaseUrl).searchParams.has('host')) return false;
  return pgbouncerVersion() !== undefined;
}

export async function startPooler(databaseUrl: string, settings: readonly string[]) {
  const { hostname, port, username, password, pathname } = new URL(databaseUrl);
  const home = createHome();
  const own = freePort();
  const name = pathname.slice(1);
  const target = [
    `host=${hostname}`,
    `port=${port || 5432}`,
    `dbname=${name}`,
    `user=${username}`,
    ...(password ? [`password=${password}`] : []),
  ];
  const file = join(home.path, 'pgbouncer.ini');
  writeFileSync(
    file,
    `[databases]
${name} = ${target.join(' ')}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${own}
unix_socket_dir =
auth_type = any
pool_mode = transaction
max_client_conn = ${clientsAtMost}
default_pool_size = ${serverConnections}
ignore_startup_parameters = extra_float_digits,statement_timeout,idle_in_transaction_session_timeout
${settings.join('\n')}
`,
  );
  const program = startProgram({
    home: home.path,
    name: 'pgbouncer',
    command: [pgbouncer, file],
  });
  const url = `postgres://${username}@127.0.0.1:${own}/${name}`;
  await until('PgBouncer leads to Postgres', () => isAnswering(url));
  return {
    url,
    async stop() {
      await program.end('SIGINT');
      home.remove();
    },
  };
}
