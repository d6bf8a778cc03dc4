import type { Writer } from '../audit/actor.ts';
import { recordAct } from '../audit/record.ts';
import type { Db } from '../lib/db/db.ts';
import { inTransaction } from '../lib/db/transaction.ts';
import { isUuid } from '../lib/validation/parse.ts';
import { classifyReport } from './bounce.rules.ts';
import { findMailedTo } from './queries.ts';
import type { Report } from './report.ts';
import { suppress } from './unsubscribe.ts';

export type BounceTools = {
  db: Db;
  settings: { bounceDomain: string | null };
  /** Undefined for a message that could not be read in time. */
  readReport: (orgId: string, message: Uint8Array) => Promise<Report | undefined>;
};

/**
 * Takes a message that came to the return address. It acts only when the message is a report about a
 * mail that this organization sent: everybody can write to that address.
 */
export async function takeBounce(
  { db, settings, readReport }: BounceTools,
  writer: Writer,
  message: Uint8Array,
) {
  const report = await readReport(writer.orgId, message);
  if (!report) return { matched: false, action: 'none' as const };
  const ids = mailIdsOf(report, settings.bounceDomain);
  const mailed = ids.length > 0 && (await findMailedTo(db, writer.orgId, ids));
  if (!mailed) return { matched: false, action: 'none' as const };

  const { action, detail } = classifyReport(report, mailed.email);
  if (action === 'none') return { matched: true, action };
  const address = { orgId: writer.orgId, email: mailed.email };
  const isStored = await inTransaction(db, async (tx) => {
    if (!(await suppress(tx, address, { kind: action, detail }))) return false;
    await recordAct(tx, { ...writer, act: 'bounce.recorded', details: { kind: action } });
    return true;
  });
  return isStored ? { matched: true, action } : { matched: false, action: 'none' as const };
}

/** Which mails it may be about: by the return path that names the mail, else by the Message-ID. */
function mailIdsOf({ returnPaths, messageIds }: Report, bounceDomain: string | null): string[] {
  const named = returnPaths.flatMap((address) => {
    const [, id = '', domain = ''] = returnPathForm.exec(address.toLowerCase()) ?? [];
    return domain === bounceDomain?.toLowerCase() ? [id] : [];
  });
  const ids = messageIds.map((id) => id.slice(0, id.indexOf('@')).toLowerCase());
  return [...new Set([...named, ...ids])].filter(isUuid);
}

const returnPathForm = /^bounce\+([0-9a-f-]{36})@(.+)$/;
