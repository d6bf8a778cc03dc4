import { addressKey } from '../lib/smtp/address.ts';
import type { RecipientStatus, Report } from './report.ts';

export type ReportVerdict = { action: 'bounced' | 'unsubscribed' | 'none'; detail: string | null };

const none: ReportVerdict = { action: 'none', detail: null };

/** What a report about a mail to this address means for the address. */
export function classifyReport({ kind, statuses, feedback }: Report, email: string): ReportVerdict {
  if (kind === 'complaint') {
    return complaints.has(feedback)
      ? { action: 'unsubscribed', detail: 'reported the mail as spam' }
      : none;
  }
  const key = addressKey(email);
  const own = statuses.filter(({ recipients }) =>
    recipients.some((each) => addressKey(each) === key),
  );
  // A mail of ours has one recipient. Under another name it is where that one forwards to.
  const concerned = own.length > 0 ? own : statuses;
  if (concerned.length === 0 || !concerned.every(isHard)) return none;
  const { status, diagnostic } = concerned[0]!;
  return { action: 'bounced', detail: `${status} ${diagnostic}`.trim().slice(0, longestDetail) };
}

const longestDetail = 500;
const complaints = new Set(['abuse', 'opt-out', 'opt-out-list']);

/** Whether nothing will ever arrive there. Full, busy, too large or taken for spam is not that. */
function isHard({ action, status, diagnostic }: RecipientStatus): boolean {
  if (action !== 'failed' || !status.startsWith('5.')) return false;
  if (aboutSender.has(status)) return false;
  if (/^5\.1\./.test(status) || deadMailbox.has(status)) return true;
  return vague.has(status) && noSuchMailbox.test(diagnostic);
}

/** 5.1.7 and 5.1.8 say that our own address is wrong. */
const aboutSender = new Set(['5.1.7', '5.1.8']);
/** The mailbox is disabled; the domain does not exist, in the words of Exchange. */
const deadMailbox = new Set(['5.2.1', '5.4.310']);
/** Servers without enhanced codes, and those that know only one: then their words decide. */
const vague = new Set(['5.0.0', '5.5.0', '5.4.1', '5.7.1']);
const noSuchMailbox =
  /(user|recipient|mailbox|address|account)s?( here)? (is )?(unknown|not found|does(n't| not) exist|invalid)|(unknown|no such|invalid|non-?existent) (user|recipient|mailbox|address|account)|no mailbox here by that name|does not have an? .{0,40}account/i;
