import { listErased } from '../../contacts/erased.queries.ts';
import { deleteAnswers } from '../../keys/erase-answers.queries.ts';
import { findAnswers } from '../../keys/erase-answers.ts';
import type { Secrets } from '../../lib/crypto/secrets.ts';
import type { Db } from '../../lib/db/db.ts';
import { addressKey } from '../../lib/smtp/address.ts';
import { deleteMessagesToErased } from '../../mailbox/erase.queries.ts';
import type { ErasureFile } from './file.ts';
import { fileErasures } from './file-erasures.ts';

type FinishTools = { db: Db; secrets: Secrets; erasureFile: ErasureFile };

/** Deletes what requests and mails that were under way during an erasure have left after it. By then only hashes are known. */
export async function finishErasure(
  tools: FinishTools,
  { org_id: orgId, erasure_id: erasureId }: { org_id: string; erasure_id: string },
) {
  const { db } = tools;
  const answers = await findAnswers(tools, orgId, async (text) => {
    const keys = (text.match(addresses) ?? []).map(addressKey);
    return (await listErased(db, orgId, [...new Set(keys)])).size > 0;
  });
  await deleteAnswers(db, orgId, answers);
  await deleteMessagesToErased(db, orgId, erasureId);
  await fileErasures(tools);
}

const addresses = /[A-Za-z0-9!#$%&'*+/=?^_`{|}~.-]+@[A-Za-z0-9.-]+/g;
