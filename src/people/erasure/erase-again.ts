import { commandWriter } from '../../audit/actor.ts';
import { recordAct } from '../../audit/record.ts';
import type { Secrets } from '../../lib/crypto/secrets.ts';
import { type Db, isDeadlock, type Sql } from '../../lib/db/db.ts';
import { inTransaction } from '../../lib/db/transaction.ts';
import { retryWhile } from '../../sends/mail-job.ts';
import { findCopies } from './copies.ts';
import { insertFiled, listAddressesOf, listOrganizationsOf } from './erase-again.queries.ts';
import type { FiledErasure } from './filed.ts';
import { eraseRows, isNothing } from './rows.ts';

/** The outcome of a file: persons erased again, and receipts of organizations that are not there. */
export type ErasedAgain = { receipts: number; erased_again: number; unknown_organizations: number };

/**
 * Erases again what a backup has brought back that is older than the erasures, and restores their receipts. Doing it
 * again changes nothing.
 */
export async function eraseAgain(
  tools: { db: Db; secrets: Secrets },
  filed: readonly FiledErasure[],
): Promise<ErasedAgain> {
  const known = await listOrganizationsOf(tools.db, [
    ...new Set(filed.map(({ org_id }) => org_id)),
  ]);
  const own = filed.filter(({ org_id }) => known.has(org_id));
  let erased = 0;
  for (const [orgId, receipts] of Map.groupBy(own, ({ org_id }) => org_id)) {
    erased += await eraseIn(tools, orgId, receipts);
  }
  return {
    receipts: own.length,
    erased_again: erased,
    unknown_organizations: filed.length - own.length,
  };
}

async function eraseIn(
  tools: { db: Db; secrets: Secrets },
  orgId: string,
  receipts: readonly FiledErasure[],
): Promise<number> {
  const hashes = receipts.map(({ address_hash }) => address_hash);
  const addresses = await listAddressesOf(tools.db, orgId, hashes);
  let erased = 0;
  for (const receipt of receipts) {
    const key = addresses.get(receipt.address_hash);
    const copies =
      key === undefined ? { answers: [], messages: [] } : await findCopies(tools, orgId, key);
    const isErased = await retryWhile(isDeadlock, () =>
      inTransaction(tools.db, async (tx) => {
        const found = key === undefined ? false : await eraseFound(tx, { key, receipt, copies });
        await insertFiled(tx, receipt);
        return found;
      }),
    );
    if (isErased) erased += 1;
  }
  return erased;
}

type Found = { key: string; receipt: FiledErasure; copies: Awaited<ReturnType<typeof findCopies>> };

/** What was added after the address was allowed again stays. */
async function eraseFound(tx: Sql, { key, receipt, copies }: Found): Promise<boolean> {
  const { id, org_id: orgId, address_hash: hash, scores, erased_at, allowed_at } = receipt;
  const before = allowed_at ? erased_at : null;
  const kept = allowed_at ? { answers: [], messages: [] } : copies;
  const counts = await eraseRows(tx, orgId, { key, hash, scores, copies: kept, before });
  if (isNothing(counts)) return false;
  const target = { kind: 'erasure', id };
  const details = { scores, again: true, contacts: counts.contacts };
  await recordAct(tx, { ...commandWriter(orgId), act: 'person.erased', target, details });
  return true;
}
