import { Refusal } from './errors.ts';
import { awaitDatabase } from './lib/db/await-database.ts';
import { type Db, one, type Sql } from './lib/db/db.ts';
import type { Servers } from './lib/db/servers.ts';

/** Where a connection stays with the process that made it. */
export type SessionAddress = { db: Db; url: string; servers?: Servers | undefined };

type Patience = Parameters<typeof awaitDatabase>[1];
type Apart = { sessions: SessionAddress; patience: Patience };

/** Waits for the database of DATABASE_URL where sessions have another address, and refuses another database than theirs. */
export async function awaitApart(db: Db, { sessions, patience }: Apart) {
  await awaitDatabase(db, patience).catch(namingSetting('DATABASE_URL'));
  const [there, here] = await Promise.all([identify(db), identify(sessions.db)]);
  if (there !== here) throw new Refusal('unavailable', otherDatabase);
}

/** Names the setting at fault, in a sentence that does not name it yet. */
export const namingSetting = (name: string) => (error: unknown) => {
  const isOurs = error instanceof Refusal && error.kind === 'unavailable';
  if (!isOurs || error.message.includes(name)) throw error;
  throw new Refusal('unavailable', `${name}: ${error.message}`, { code: error.code });
};

/** The same for two addresses of the same database of the same server. */
async function identify(sql: Sql): Promise<string> {
  const rows = await sql<{ id: string }[]>`
    select pg_postmaster_start_time()::text || ' ' || current_database() as id`;
  return one(rows).id;
}

// Jobs in another database than their cause would never run.
const otherDatabase =
  'ASKBACK_SESSION_DATABASE_URL leads to another database than DATABASE_URL: both must be the same one';
