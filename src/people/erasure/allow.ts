import type { Writer } from '../../audit/actor.ts';
import { recordAct } from '../../audit/record.ts';
import { notFound } from '../../errors.ts';
import type { Db } from '../../lib/db/db.ts';
import { inTransaction } from '../../lib/db/transaction.ts';
import type { ErasureFile } from './file.ts';
import { fileErasures } from './file-erasures.ts';
import { allowErased, type ErasureReceipt, findErasure } from './queries.ts';

/** Lets the address of a receipt be added and mailed again. What was erased stays erased. Doing it again changes nothing. */
export async function allowErasedAddress(
  tools: { db: Db; erasureFile: ErasureFile },
  writer: Writer,
  id: string,
): Promise<ErasureReceipt> {
  const { orgId } = writer;
  const receipt = await inTransaction(tools.db, async (tx) => {
    const target = { kind: 'erasure', id };
    if (await allowErased(tx, orgId, id)) {
      await recordAct(tx, { ...writer, act: 'person.allowed', target });
    }
    return await findErasure(tx, orgId, id);
  });
  if (!receipt) throw notFound('erasure');
  await fileErasures(tools);
  return receipt;
}
