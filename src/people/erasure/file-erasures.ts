import type { Db } from '../../lib/db/db.ts';
import { inTransaction } from '../../lib/db/transaction.ts';
import { lockUnfiled, markFiled } from './file.queries.ts';
import type { ErasureFile } from './file.ts';

const filedAtOnce = 500;

/**
 * Appends to the file what is not in it yet. The table is the truth: what cannot be written now waits in it for the
 * next time. A line may come twice, if the process dies between the file and the table: the last one of an id counts.
 */
export async function fileErasures({ db, erasureFile }: { db: Db; erasureFile: ErasureFile }) {
  for (let filed = filedAtOnce; filed === filedAtOnce; ) {
    filed = await inTransaction(db, async (tx) => {
      const waiting = await lockUnfiled(tx, filedAtOnce);
      if (waiting.length === 0) return 0;
      if (!erasureFile.append(waiting.map(({ line }) => line))) return 0;
      await markFiled(
        tx,
        waiting.map(({ id }) => id),
      );
      return waiting.length;
    });
  }
}
