import type { Db } from '../lib/db/db.ts';
import { deleteOldSessions } from '../sessions/queries.ts';
import { deleteOldAttempts } from './attempts.queries.ts';
import { deleteOldHandshakes } from './handshake.queries.ts';
import { deleteOldLinks } from './links.queries.ts';

/** So many rows a statement, so that no transaction becomes long. */
const batch = 1000;

/** Deletes sessions, links and counts of wrong proofs that can have no effect any more. */
export async function cleanUpMembers({ db }: { db: Db }) {
  while ((await deleteOldSessions(db, batch)) === batch);
  while ((await deleteOldLinks(db, batch)) === batch);
  while ((await deleteOldAttempts(db, batch)) === batch);
  while ((await deleteOldHandshakes(db, batch)) === batch);
}
