import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from '../../src/lib/db/db.ts';
import { freePort } from '../support/processes/free-port.ts';
import {
  type Program,
  postgresPrograms,
  postmasterOf,
  run,
  signalAll,
  startProgram,
  treeOf,
} from './programs.ts';
import { isAnswering, until } from './reach.ts';

export type Standby = Awaited<ReturnType<typeof startWithStandby>>['standby'];

const urlAt = (port: number) => `postgres://postgres@127.0.0.1:${port}/postgres`;

/** A primary and a streaming replica of it, which `pg_basebackup` copies while the primary serves. */
export async function startWithStandby(home: string) {
  await using begun = new AsyncDisposableStack();
  const folders = { primary: join(home, 'primary'), standby: join(home, 'standby') };
  const ports = { primary: freePort(), standby: freePort() };
  await run(
    `${postgresPrograms}/initdb`,
    '-D',
    folders.primary,
    '-U',
    'postgres',
    '-A',
    'trust',
    '--no-sync',
    '--encoding',
    'UTF8',
    '--locale',
    'C.UTF-8',
  );
  const primary = startServer(home, folders.primary, ports.primary);
  begun.defer(() => primary.end('SIGQUIT'));
  await until('the primary answers', () => isAnswering(urlAt(ports.primary)));
  await run(
    `${postgresPrograms}/pg_basebackup`,
    '-h',
    '127.0.0.1',
    '-p',
    String(ports.primary),
    '-U',
    'postgres',
    '-D',
    folders.standby,
    '-R',
    '-c',
    'fast',
    '--no-sync',
  );
  let program = startServer(home, folders.standby, ports.standby);
  begun.defer(() => program.end('SIGQUIT'));
  const url = urlAt(ports.standby);
  const ask = async (statement: string) => {
    const db = connect(url, { connections: 1 });
    const asked = () =>
      db.unsafe(statement).then(
        () => true,
        (error: { code?: string }) => {
          if (error.code !== conflictWithReplay) throw error;
          return false;
        },
      );
    await until('the replica does it', asked).finally(() => db.end({ timeout: 1 }));
  };
  const answers = () => until('the replica answers', () => isAnswering(url));
  await answers();

  const standby = {
    url,
    ask,
    /** The postmaster first, so that it ends no backend in an orderly way. */
    async kill() {
      signalAll(treeOf(postmasterOf(folders.standby)!), 'SIGKILL');
      await program.end('SIGKILL');
    },
    async start() {
      program = startServer(home, folders.standby, ports.standby);
      await answers();
    },
    /** How many reads of the API it has been asked, as its own log says. */
    reads: () => readFileSync(join(home, 'standby.log'), 'utf8').match(readLine)?.length ?? 0,
  };
  const ends = begun.move();
  return { url: urlAt(ports.primary), standby, end: () => ends.disposeAsync() };
}

/** A replica that is far behind ends what its replay would have to wait for. */
const conflictWithReplay = '40001';

const readLine = /^askback reads LOG: {2}execute [^:]+:\s+select \(/gm;

function startServer(home: string, folder: string, port: number): Program {
  const settings = [
    'listen_addresses=127.0.0.1',
    `port=${port}`,
    `unix_socket_directories=${home}`,
    'max_connections=200',
    'fsync=off',
    'shared_buffers=64MB',
    'wal_keep_size=512MB',
    'wal_receiver_status_interval=1s',
    'wal_retrieve_retry_interval=500ms',
    ...(folder.endsWith('standby') ? ['log_statement=all', 'log_line_prefix=%a '] : []),
  ].flatMap((each) => ['-c', each]);
  const name = folder.endsWith('standby') ? 'standby' : 'primary';
  return startProgram({
    home,
    name,
    command: [`${postgresPrograms}/postgres`, '-D', folder, ...settings],
  });
}
