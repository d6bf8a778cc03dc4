import { recordAct, type Writer } from '../audit/acts.ts';
import { type Db, inTransaction, type Sql } from '../lib/db/db.ts';
import { addressKey } from '../lib/smtp/address.ts';
import { isUuid } from '../lib/validation/parse.ts';
import { findMailRecipient } from './queries.ts';
import type { RecipientStatus, Report } from './report.ts';
import { suppress } from './suppress.ts';

export type BounceTools = {
  db: Db;
  settings: { bounceDomain: string | null };
  /** Undefined for a message that could not be parsed in time. */
  readReport: (orgId: string, message: Uint8Array) => Promise<Report | undefined>;
};

/**
 * Processes a message that came to the return address. Anyone can write to it, so only a report about an email of this
 * organization has an effect.
 */
export async function takeBounce(
  { db, settings, readReport }: BounceTools,
  writer: Writer,
  message: Uint8Array,
) {
  const report = await readReport(writer.orgId, message);
  if (!report) return { matched: false, action: 'none' as const };
  const ids = mailIdsOf(report, settings.bounceDomain);
  const mailed = ids.length > 0 && (await findMailRecipient(db, writer.orgId, ids));
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

/** Ids of the emails that a report may concern, from its return path and Message-ID. */
function mailIdsOf({ returnPaths, messageIds }: Report, bounceDomain: string | null): string[] {
  const named = returnPaths.flatMap((address) => {
    const [, id = '', domain = ''] = returnPathForm.exec(address.toLowerCase()) ?? [];
    return domain === bounceDomain?.toLowerCase() ? [id] : [];
  });
  const ids = messageIds.map((id) => id.slice(0, id.indexOf('@')).toLowerCase());
  return [...new Set([...named, ...ids])].filter(isUuid);
}

const returnPathForm = /^bounce\+([0-9a-f-]{36})@(.+)$/;

type ReportVerdict = { action: 'bounced' | 'unsubscribed' | 'none'; detail: string | null };

const none: ReportVerdict = { action: 'none', detail: null };

export function classifyReport({ kind, statuses, feedback }: Report, email: string): ReportVerdict {
  if (kind === 'complaint') {
    return complaints.has(feedback)
      ? { action: 'unsubscribed', detail: 'reported the email as spam' }
      : none;
  }
  const key = addressKey(email);
  const own = statuses.filter(({ recipients }) =>
    recipients.some((each) => addressKey(each) === key),
  );
  // Our emails have one recipient, so any other address is where the recipient forwards emails.
  const concerned = own.length > 0 ? own : statuses;
  if (concerned.length === 0 || !concerned.every(isHard)) return none;
  const { status, diagnostic } = concerned[0]!;
  return { action: 'bounced', detail: `${status} ${diagnostic}`.trim().slice(0, maxDetailLength) };
}

const maxDetailLength = 500;
const complaints = new Set(['abuse', 'opt-out', 'opt-out-list']);

/** True if the mailbox does not exist. Full, busy, too large and spam are not hard bounces. */
function isHard({ action, status, diagnostic }: RecipientStatus): boolean {
  if (action !== 'failed' || !status.startsWith('5.')) return false;
  if (aboutSender.has(status)) return false;
  if (/^5\.1\./.test(status) || deadMailbox.has(status)) return true;
  return vague.has(status) && noSuchMailbox.test(diagnostic);
}

/** 5.1.7 and 5.1.8 reject our own address. */
const aboutSender = new Set(['5.1.7', '5.1.8']);
/** A disabled mailbox or, in Exchange, a domain that does not exist. */
const deadMailbox = new Set(['5.2.1', '5.4.310']);
/** Codes that servers use for several errors. The diagnostic text decides. */
const vague = new Set(['5.0.0', '5.5.0', '5.4.1', '5.7.1']);
const noSuchMailbox =
  /(user|recipient|mailbox|address|account)s?( here)? (is )?(unknown|not found|does(n't| not) exist|invalid)|(unknown|no such|invalid|non-?existent) (user|recipient|mailbox|address|account)|no mailbox here by that name|does not have an? .{0,40}account/i;

/** Suppresses bounced addresses. `bounced` selects org_id, email and the server's reason. */
export const suppressBounced = (sql: Sql, bounced: ReturnType<typeof sql>) => sql`
  insert into suppressions (org_id, email, kind, detail)
  select distinct on (org_id, lower(email)) org_id, lower(email), 'bounced', reason
  from (${bounced}) as b (org_id, email, reason)
  on conflict do nothing`;
