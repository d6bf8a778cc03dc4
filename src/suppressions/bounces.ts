import PostalMime, { type Attachment } from 'postal-mime';
import { recordAct, type Writer } from '../audit/acts.ts';
import { type Db, inTransaction, type Sql } from '../lib/db/db.ts';
import { addressKey } from '../lib/smtp/address.ts';
import { isUuid } from '../lib/validation/parse.ts';
import { findMailedTo } from './queries.ts';
import { suppress } from './unsubscribe.tsx';

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

type ReportVerdict = { action: 'bounced' | 'unsubscribed' | 'none'; detail: string | null };

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

/** What a report says about one recipient. */
export type RecipientStatus = {
  action: string;
  status: string;
  /** Without the kind of address before it, in lower case. */
  recipients: string[];
  diagnostic: string;
};

/** What a message reports about another one. `other` is every message that is no report. */
export type Report = {
  kind: 'delivery' | 'complaint' | 'other';
  statuses: RecipientStatus[];
  /** Of a complaint: `abuse`, or that it is none. */
  feedback: string;
  /** Where the report went, and where the message that it is about said that it came from. */
  returnPaths: string[];
  /** Of the message that it is about. */
  messageIds: string[];
};

type Fields = ReadonlyMap<string, string>;

const mostRecipients = 100;
const deepestNesting = 8;

/**
 * Reads a delivery report (RFC 3464), qmail's kind of it, or a complaint (ARF, RFC 5965). What it needs
 * stands at the beginning of a report; the mail that is returned with it may be cut off.
 */
export async function readReport(message: Uint8Array): Promise<Report> {
  const {
    headers,
    attachments,
    text = '',
  } = await PostalMime.parse(beginningOf(message), {
    forceRfc822Attachments: true,
    maxNestingDepth: deepestNesting,
  }).catch(() => ({ headers: [], attachments: [], text: '' }));
  const outer = new Map(headers.map(({ key, value }) => [key, value]));
  const part = (type: RegExp) => attachments.find(({ mimeType }) => type.test(mimeType));
  const status = part(/^message\/(global-)?delivery-status$/);
  const feedback = part(/^message\/feedback-report$/);
  const original = part(
    /^(message\/rfc822|message\/global|text\/rfc822-headers|message\/global-headers)$/,
  );
  const form = (outer.get('content-type') ?? '').toLowerCase();
  const isReport = form.startsWith('multipart/report');

  if (isReport && status) {
    const groups = fieldGroups(textOf(status));
    const statuses = groups.slice(1, 1 + mostRecipients).map(statusOf);
    return { ...about(outer, original), kind: 'delivery', statuses, feedback: '' };
  }
  if (isReport && feedback) {
    const [said = new Map()] = fieldGroups(textOf(feedback));
    const { returnPaths, messageIds } = about(outer, original);
    returnPaths.push(...addressesIn(said.get('original-mail-from') ?? ''));
    const type = (said.get('feedback-type') ?? '').toLowerCase();
    return { kind: 'complaint', statuses: [], feedback: type, returnPaths, messageIds };
  }
  return readQmail(outer, text);
}

// The parser's time grows with the lines of a message and with the length of its headers.
const mostBytes = 64 * 1024;
const mostLines = 2000;
const mostLineBytes = 2000;
const mostHeaderBytes = 12 * 1024;

/** As much of a message as any sender may cost: overlong lines are shortened first. */
function beginningOf(message: Uint8Array): Uint8Array {
  const text = Buffer.from(message.buffer, message.byteOffset, message.length).toString('latin1');
  const lines: string[] = [];
  let bytes = 0;
  for (let at = 0; at < text.length && lines.length < mostLines && bytes < mostBytes; ) {
    const end = text.indexOf('\n', at) < 0 ? text.length : text.indexOf('\n', at);
    const line = text.slice(at, Math.min(end, at + mostLineBytes));
    lines.push(line);
    bytes += line.length + 1;
    at = end + 1;
  }
  return Buffer.from(shortenHeaders(lines.join('\n')), 'latin1');
}

function shortenHeaders(text: string): string {
  const end = /\r?\n\r?\n/.exec(text)?.index ?? text.length;
  if (end <= mostHeaderBytes) return text;
  const lastLineEnd = text.lastIndexOf('\n', mostHeaderBytes);
  return text.slice(0, lastLineEnd < 0 ? mostHeaderBytes : lastLineEnd) + text.slice(end);
}

/** qmail sends plain text: a sentence, a paragraph for each recipient, then the message itself. */
function readQmail(outer: Fields, text: string): Report {
  const [notice = '', original = ''] = text.replace(/\r\n/g, '\n').split(qmailSeparator);
  const isQmail = qmailOpening.test(notice) && original !== '';
  const [headers = new Map()] = isQmail ? fieldGroups(original) : [];
  const statuses = isQmail ? qmailStatuses(notice) : [];
  const kind = isQmail ? 'delivery' : 'other';
  return { ...aboutFields(outer, headers), kind, statuses, feedback: '' };
}

const qmailOpening = /^Hi\. This is the /m;
const qmailSeparator =
  /^--- Below this line is (?:a copy of the message|the original bounce)\.\n+/m;

const qmailStatuses = (notice: string): RecipientStatus[] =>
  [...notice.matchAll(/^<([^>\n]{3,254})>:\n((?:.+\n?){1,20})/gm)]
    .slice(0, mostRecipients)
    .map(([, recipient = '', paragraph = '']) => {
      const diagnostic = paragraph.replace(/\s+/g, ' ').trim();
      const status = /[( #]([245]\.\d{1,3}\.\d{1,3})\b/.exec(diagnostic)?.[1] ?? '5.0.0';
      return { action: 'failed', status, recipients: [recipient.toLowerCase()], diagnostic };
    });

function statusOf(fields: Fields): RecipientStatus {
  const said = (name: string) => fields.get(name) ?? '';
  const recipients = [said('original-recipient'), said('final-recipient')]
    .map((value) =>
      value
        .replace(/^[^;]*;/, '')
        .trim()
        .replace(/^<|>$/g, '')
        .toLowerCase(),
    )
    .filter((value) => value !== '');
  return {
    action: said('action').trim().toLowerCase(),
    status: /[245]\.\d{1,3}\.\d{1,3}/.exec(said('status'))?.[0] ?? '',
    recipients,
    diagnostic: said('diagnostic-code')
      .replace(/^[^;]*;/, '')
      .trim(),
  };
}

function about(outer: Fields, original: Attachment | undefined) {
  const [headers = new Map()] = original ? fieldGroups(textOf(original)) : [];
  return aboutFields(outer, headers);
}

function aboutFields(outer: Fields, original: Fields) {
  const addressed = ['to', 'delivered-to', 'x-original-to', 'envelope-to'].map((name) =>
    outer.get(name),
  );
  const returnPaths = [...addressed, original.get('return-path')].flatMap((value) =>
    addressesIn(value ?? ''),
  );
  const messageIds = [...(original.get('message-id') ?? '').matchAll(/<([^<>\s]{1,250})>/g)].map(
    ([, id = '']) => id,
  );
  return { returnPaths, messageIds };
}

const addressesIn = (value: string) =>
  [...value.slice(0, 10_000).matchAll(/[^\s<>,;:"()]{1,64}@[^\s<>,;:"()]{1,253}/g)].map(
    ([address]) => address,
  );

/** Blocks of header fields, with empty lines between them. Of a name that is repeated the first counts. */
function fieldGroups(text: string): Fields[] {
  const groups: Map<string, string>[] = [];
  for (const block of text
    .replace(/\r\n/g, '\n')
    .trim()
    .split(/\n{2,}/)) {
    const fields = new Map<string, string>();
    for (const line of block.replace(/\n[ \t]+/g, ' ').split('\n')) {
      const colon = line.indexOf(':');
      const name = line.slice(0, Math.max(colon, 0)).trim().toLowerCase();
      if (name && !fields.has(name)) fields.set(name, line.slice(colon + 1).trim());
    }
    groups.push(fields);
  }
  return groups;
}

const textOf = ({ content }: Attachment) =>
  typeof content === 'string' ? content : new TextDecoder().decode(content);

/** The insert that suppresses bounced addresses, from a select of org_id, email and the server's reason. */
export const suppressBounced = (sql: Sql, bounced: ReturnType<typeof sql>) => sql`
  insert into suppressions (org_id, email, kind, detail)
  select distinct on (org_id, lower(email)) org_id, lower(email), 'bounced', reason
  from (${bounced}) as b (org_id, email, reason)
  on conflict do nothing`;
