import type { Writer } from '../../audit/actor.ts';
import { recordAct } from '../../audit/record.ts';
import { notFound } from '../../errors.ts';
import { enqueue } from '../../jobs.ts';
import type { Secrets } from '../../lib/crypto/secrets.ts';
import { type Db, isDeadlock, type Sql } from '../../lib/db/db.ts';
import { inTransaction } from '../../lib/db/transaction.ts';
import { addressKey } from '../../lib/smtp/address.ts';
import { retryWhile } from '../../sends/mail-job.ts';
import { findCopies } from './copies.ts';
import { addCounts } from './counts.ts';
import type { ErasureFile } from './file.ts';
import { fileErasures } from './file-erasures.ts';
import { type ErasureReceipt, findInForce, hashAddress, insertErasure } from './queries.ts';
import { eraseRows, isNothing } from './rows.ts';

/** Longer than a request that was running during the erasure may take. */
const finishMarginSeconds = 60;

export type EraseTools = {
  db: Db;
  secrets: Secrets;
  settings: { sendDeadlineSeconds: number };
  erasureFile: ErasureFile;
};

export type ErasureWish = { email: string; scores: 'kept' | 'deleted' };

/**
 * Erases a person: everything that leads to an address in an organization goes, or loses what leads to it, in one
 * transaction with the receipt. The address stays suppressed as a keyed hash. Erasing again answers with the receipt
 * that is in force.
 */
export async function erasePerson(
  tools: EraseTools,
  writer: Writer,
  { email, scores }: ErasureWish,
): Promise<ErasureReceipt> {
  const { orgId } = writer;
  const key = addressKey(email);
  const copies = await findCopies(tools, orgId, key);
  const receipt = await retryWhile(isDeadlock, () =>
    inTransaction(tools.db, async (tx) => {
      const hash = await hashAddress(tx, orgId, key);
      const counts = await eraseRows(tx, orgId, { key, hash, scores, copies, before: null });
      const inForce = await findInForce(tx, orgId, hash);
      if (inForce && counts.contacts + counts.responses === 0) return inForce;
      if (isNothing(counts)) throw notFound('person');
      const erased = await insertErasure(tx, orgId, {
        address_hash: hash,
        scores,
        counts: inForce ? addCounts(inForce.counts, counts) : counts,
      });
      await record(tx, writer, erased);
      await enqueueFinish(tx, tools, { orgId, erasureId: erased.id });
      return erased;
    }),
  );
  await fileErasures(tools);
  return receipt;
}

async function record(tx: Sql, writer: Writer, { id, counts, scores }: ErasureReceipt) {
  const target = { kind: 'erasure', id };
  const details = { scores, contacts: counts.contacts, responses: counts.responses };
  await recordAct(tx, { ...writer, act: 'person.erased', target, details });
}

/** A request that runs during the erasure may store its answer, and a mail in flight may arrive, after it. */
async function enqueueFinish(
  tx: Sql,
  { settings }: Pick<EraseTools, 'settings'>,
  { orgId, erasureId }: { orgId: string; erasureId: string },
) {
  const seconds = settings.sendDeadlineSeconds + finishMarginSeconds;
  const payload = { org_id: orgId, erasure_id: erasureId };
  const runAt = new Date(Date.now() + seconds * 1000);
  await enqueue(tx, [{ task: 'people.finish_erasure', payload, runAt }]);
}
