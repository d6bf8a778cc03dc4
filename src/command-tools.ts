import { Refusal } from './errors.ts';
import type { Db } from './lib/db/db.ts';
import { migrate, refuseUnfitPostgres, schemaState } from './lib/db/migrate.ts';
import { prepareQueue } from './lib/queue/enqueue.ts';
import type { SessionAddress } from './open-database.ts';
import { openDatabase } from './open-database.ts';
import type { Config } from './settings.ts';

/** What a command needs from outside: its settings, and where its output goes. */
export type CommandTools = {
  /** Reads the environment. A command that touches nothing does not ask for it. */
  config: () => Config;
  /** The environment itself, for libraries that read it by their own rules. */
  environment: Record<string, string | undefined>;
  say: (sentence: string) => void;
  print: (text: string) => void;
  stopSignal: () => Promise<string>;
};

const commandConnections = 2;

export async function inDatabase<T>(
  tools: CommandTools,
  work: (db: Db, config: Config, databaseUrl: string) => Promise<T>,
): Promise<T> {
  const config = tools.config();
  const { db, sessions, close } = await openDatabase(config, {
    ...tools,
    connections: commandConnections,
  });
  try {
    await refuseUnfitPostgres(db);
    await requireSchema(db, sessions);
    return await work(db, config, sessions.url);
  } finally {
    await close();
  }
}

/** Migrates an empty database. One with data is upgraded only by `migrate` and `serve`. */
async function requireSchema(db: Db, sessions: SessionAddress) {
  const { applied, missing, unknown } = await schemaState(db);
  if (missing.length === 0 && unknown.length === 0) return;
  if (applied > 0 && unknown.length === 0) {
    throw new Refusal(
      'unavailable',
      'this database is older than this askback: run `askback migrate`, or start `askback serve`',
    );
  }
  await prepareQueue(db, sessions);
  await migrate(db);
}
