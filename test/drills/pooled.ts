import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from '../../src/lib/db/db.ts';
import { startCluster } from '../support/processes/cluster.ts';
import { freePort } from '../support/processes/free-port.ts';
import {
  canCarryPrepared,
  pgbouncer,
  pgbouncerVersion,
  preparedSettings,
} from '../support/processes/pgbouncer.ts';
import { balance, isFailure, type Line, requestLines, serviceLines } from './books.ts';
import { createHome, startProgram } from './programs.ts';
import { stage } from './scene.ts';
import { startTraffic } from './traffic.ts';

const processes = 2;
/** Fewer connections than a single process would use. */
const poolSize = 6;

/** Two processes share a few connections of PgBouncer in transaction mode. */
export async function behindPooler({ short }: { short: boolean }): Promise<Line[]> {
  const [seconds, answersPerSecond] = short ? [8, 12] : [40, 60];
  await using ends = new AsyncDisposableStack();
  const home = ends.adopt(createHome(), ({ remove }) => remove());
  // This server listens on a port, because PgBouncer's account cannot enter the folder of an embedded one.
  const { primary: server } = await startCluster({ after: (end) => ends.defer(end) });
  const db = ends.adopt(connect(server.url, { connections: 2 }), (it) => it.end({ timeout: 1 }));
  const pooler = startPooler(home.path, server.url);
  ends.defer(() => pooler.program.end());
  const settings = {
    DATABASE_URL: pooler.url,
    ASKBACK_SESSION_DATABASE_URL: server.url,
    ASKBACK_PREPARED: canCarryPrepared() ? 'on' : 'off',
  };
  const answers = answersPerSecond * seconds;
  const staged = await stage({ databaseUrl: server.url, processes, answers, settings });
  const scene = ends.adopt(staged, ({ close }) => close());
  const pace = { answersPerSecond, contactsPerSend: 10, again: false };
  const { traffic, stop } = startTraffic(scene, pace);
  await sleep(seconds * 1000);
  await stop();
  return [
    { what: 'version of PgBouncer', count: pgbouncerVersion()! },
    { what: 'connections of PgBouncer to Postgres', count: poolSize },
    ...requestLines(traffic),
    { what: 'failed requests', count: traffic.attempts.filter(isFailure).length, atMost: 0 },
    ...(await balance(db, scene, traffic)),
    ...serviceLines(scene),
  ];
}

function startPooler(home: string, direct: string) {
  const upstream = new URL(direct);
  const port = freePort();
  const file = join(home, 'pgbouncer.ini');
  const settings = [
    '[databases]',
    `* = host=${upstream.hostname} port=${upstream.port} user=${upstream.username}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = any',
    'pool_mode = transaction',
    `default_pool_size = ${poolSize}`,
    'max_client_conn = 1000',
    ...preparedSettings(),
  ];
  writeFileSync(file, `${settings.join('\n')}\n`);
  const program = startProgram({ home, name: 'pgbouncer', command: [pgbouncer, file] });
  const url = `postgres://${upstream.username}@127.0.0.1:${port}${upstream.pathname}`;
  return { url, program };
}
