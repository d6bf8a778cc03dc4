import { chosenBy } from '../support/only-words.ts';
import { binary } from '../support/processes/binary.ts';
import { isBroken, type Line } from './books.ts';
import { crowd } from './crowd.ts';
import { failover } from './failover.ts';
import { fullDisk } from './full-disk.ts';
import { behindPooler } from './pooled.ts';
import { failingReplica } from './replica.ts';
import { rollingRestarts } from './rolling.ts';

/**
 * `make drills`: what operators of several machines fear, done on purpose, while answers, sends and reads go on.
 * Each drill prints its ledger: what callers were promised, held against what the database, the mail server and
 * the subscribers have. A broken promise makes the exit code 1.
 *
 * Services are processes of `dist/askback`. Everything runs on the loopback of this machine, as unprivileged
 * processes: HAProxy, PgBouncer, etcd, Patroni and Postgres 15 of Debian, which `ops/ci/with-patroni` installs. Words
 * choose drills by name, `full-disk` all with these two; `--short` makes them shorter, as CI runs them.
 *
 * | File | Holds |
 * |---|---|
 * | `rolling.ts`, `failover.ts`, ... | one drill each: what is broken, and when |
 * | `scene.ts`, `traffic.ts`, `books.ts` | services with their surroundings; callers; the ledger |
 * | `programs.ts`, `proxy.ts`, `reach.ts` | programs of others, started, broken and waited for |
 */
const drills: Readonly<Record<string, (options: { short: boolean }) => Promise<Line[]>>> = {
  'rolling restarts': rollingRestarts,
  'crowd of clients': crowd,
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

/** A drill that ended in the middle is not kept, and the others go on. */
function ending(error: unknown): Line[] {
  console.error(error);
  return [{ what: 'drills that ended in the middle', count: 1, atMost: 0 }];
}

function row(line: Line) {
  const { what, count, atMost, atLeast } = line;
  const promise = atMost === undefined ? atLeast && `at least ${atLeast}` : `at most ${atMost}`;
  return { what, count, promise: promise ?? '', kept: promise ? !isBroken(line) : '' };
}
