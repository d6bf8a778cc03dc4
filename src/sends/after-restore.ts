import type { Sql } from '../lib/db/db.ts';
import { giveUpUnsettled } from './settling.queries.ts';

const reason =
  'restored from a backup: whether it was sent after the backup is unknown, so it is not sent again';

/** A mail that was not settled when the backup was made may have gone out since. */
export const giveUpAfterRestore = (tx: Sql) => giveUpUnsettled(tx, reason);
