import { setTimeout as sleep } from 'node:timers/promises';
import { Refusal } from './errors.ts';
import { awaitDatabase } from './lib/db/await-database.ts';
import { mustChoose } from './lib/db/database-url.ts';
import { connect, type Db, isDatabaseAway, type SessionLimits, type Sql } from './lib/db/db.ts';
import { findPooler, identify, isPooled, notPooled, type Pooler } from './lib/db/pooler.ts';
import { reachServers, type Servers } from './lib/db/servers.ts';

/** Where a connection stays with the process that made it. */
export type SessionAddress = { db: Db; url: string; servers?: Servers | undefined };

type Patience = Parameters<typeof awaitDatabase>[1];

const needsSessions =
  'what needs a connection of its own (notifications, locks, jobs) goes to ASKBACK_SESSION_DATABASE_URL: set it to an address that leads to Postgres itself';

/** Waits for a Postgres, and refuses one behind a pooler which lends connections for a transaction only. */
export async function awaitPostgres(url: string, setting: string, patience: Patience) {
  const { mode } = await lookBehind(url, patience).catch(namingSetting(setting));
  if (mode === 'none' || mode === 'session') return;
  const sentence = `${setting} leads through a pooler in ${mode} mode; ${needsSessions}`;
  throw new Refusal('unavailable', sentence);
}

/** What DATABASE_URL leads through, whose clients need no sessions there; another database than theirs is refused. */
export async function judgePooled(url: string, { sessions, patience }: Pooled): Promise<Pooler> {
  const pooler = await lookBehind(url, patience, async (plain) => {
    const [there, here] = await Promise.all([identify(plain), identify(sessions.db)]);
    if (there !== here) throw new Refusal('unavailable', otherDatabase);
  }).catch(namingSetting('DATABASE_URL'));
  if (pooler.mode === 'statement') throw new Refusal('unavailable', noTransactions);
  return pooler;
}

/** A client's limits would become those of a connection that others use next: its role has them. */
export function behind<W extends { limits?: SessionLimits }>({ mode, prepares }: Pooler, way: W) {
  const { limits: _, ...options } = way;
  return mode === 'transaction' ? { ...options, prepare: prepares } : way;
}

/** Names the setting at fault, in a sentence that does not name it yet. */
export const namingSetting = (name: string) => (error: unknown) => {
  const isOurs = error instanceof Refusal && error.kind === 'unavailable';
  if (!isOurs || error.message.includes(name)) throw error;
  throw new Refusal('unavailable', `${name}: ${error.message}`, { code: error.code });
};

type Pooled = { sessions: SessionAddress; patience: Patience };

// Jobs in another database than their cause would never run.
const otherDatabase =
  'ASKBACK_SESSION_DATABASE_URL leads to another database than DATABASE_URL: both must be the same one';
const noTransactions =
  'DATABASE_URL leads through a pooler in statement mode, which has no transactions: set its pool_mode to transaction';

/** Between two looks, when the first one lost its connection. */
const pauseMs = 250;

/** Without what a pooler may refuse in a connection: limits and prepared statements. */
async function lookBehind(
  url: string,
  patience: Patience,
  check: (plain: Sql) => Promise<void> = async () => {},
): Promise<Pooler> {
  const servers = mustChoose(url) ? reachServers(url) : undefined;
  const socket = servers ? { socket: servers.socket } : {};
  const plain = connect(url, { connections: 1, prepare: false, arrays: false, ...socket });
  const giveUpAt = Date.now() + patience.seconds * 1000;
  const look = async () => {
    await check(plain);
    // Most databases have none: then no other connection needs to be made.
    if (!(await isPooled(plain))) return notPooled;
    return await findPooler(servers ? await servers.url() : url);
  };
  try {
    for (;;) {
      await awaitDatabase(plain, patience);
      const pooler = await look().catch((error: unknown) => {
        if (!isDatabaseAway(error) || Date.now() >= giveUpAt) throw error;
      });
      if (pooler) return pooler;
      await sleep(pauseMs);
    }
  } finally {
    await plain.end({ timeout: 1 });
    await servers?.stop();
  }
}
