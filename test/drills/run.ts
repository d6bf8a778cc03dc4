import { chosenBy } from '../support/only-words.ts';
import { binary } from '../support/processes/binary.ts';
import { isBroken, type Line } from './books.ts';
import { failover } from './failover.ts';
import { fullDisk } from './full-disk.ts';
import { behindPooler } from './pooled.ts';
import { failingReplica } from './replica.ts';
import { rollingRestarts } from './rolling.ts';

/**
 * `make drills` breaks deployments of several machines on purpose, while answers, sends and reads continue. Each drill
 * prints a ledger that compares promises to callers with the data of the database, the mail server and the subscribers.
 * A broken promise makes the exit code 1.
 *
 * Services are processes of `dist/askback`. Everything else runs on this machine's loopback without privileges:
 * HAProxy, PgBouncer, etcd, Patroni and Postgres 15 of Debian, which `ops/ci/with-patroni` installs. Arguments select
 * drills by name, so `full-disk` selects all with both words. `--short` shortens them, as in CI.
 *
 * `rolling.ts`, `failover.ts` and others contain one drill each. `scene.ts` has the services and what surrounds them,
 * `traffic.ts` the callers, and `books.ts` the ledger. `programs.ts`, `proxy.ts` and `reach.ts` start other programs,
 * break them and wait for them.
 */
const drills: Readonly<Record<string, (options: { short: boolean }) => Promise<Line[]>>> = {
  'rolling restarts': rollingRestarts,
  'behind a pooler': behindPooler,
  'replica behind and dead': failingReplica,
  'leader killed': (options) => failover({ way: 'killed', route: 'hosts' }, options),
  'leader cut off': (options) => failover({ way: 'cut off', route: 'hosts' }, options),
  'leader behind a proxy killed': (options) => failover({ way: 'killed', route: 'proxy' }, options),
  'full disk of tables': (options) => fullDisk('tables', options),
  'full disk of the log': (options) => fullDisk('log', options),
  'leader handed over': (options) => failover({ way: 'handed over', route: 'proxy' }, options),
};

const short = process.argv.includes('--short');
const words = process.argv.slice(2).filter((word) => word !== '--short');
const chosen = chosenBy(words, Object.keys(drills));
process.env['TEST_PROGRAM'] = binary;

for (const name of chosen) {
  const began = performance.now();
  const lines = await drills[name]!({ short }).catch(ending);
  console.log(`\n${name} (${Math.round((performance.now() - began) / 1000)} s)`);
  console.table(lines.map(row));
  if (lines.some(isBroken)) process.exitCode = 1;
}
process.exit();

/** A drill that fails midway counts as a broken promise, and the next ones still run. */
function ending(error: unknown): Line[] {
  console.error(error);
  return [{ what: 'drills that ended in the middle', count: 1, atMost: 0 }];
}

function row(line: Line) {
  const { what, count, atMost, atLeast } = line;
  const promise = atMost === undefined ? atLeast && `at least ${atLeast}` : `at most ${atMost}`;
  return { what, count, promise: promise ?? '', kept: promise ? !isBroken(line) : '' };
}
