import PostalMime, { type Attachment } from 'postal-mime';

// Runs in the thread of the redaction worker, so it must not import screens.

export type RecipientStatus = {
  action: string;
  status: string;
  /** In lower case, without the address type (`rfc822;`). */
  recipients: string[];
  diagnostic: string;
};

/** A parsed report. `other` is any message that is not a report. */
export type Report = {
  kind: 'delivery' | 'complaint' | 'other';
  statuses: RecipientStatus[];
  /** Feedback type of a complaint, such as `abuse`. */
  feedback: string;
  /** Addresses that the report was sent to, and the return path of the original message. */
  returnPaths: string[];
  /** Message-IDs of the original message. */
  messageIds: string[];
};

type Fields = ReadonlyMap<string, string>;

const maxRecipients = 100;
const maxNestingDepth = 8;

/**
 * Parses a delivery report (RFC 3464) or a complaint (ARF, RFC 5965). Only the beginning of the message is parsed, so
 * the returned original may be cut off.
 */
export async function readReport(message: Uint8Array): Promise<Report> {
  const { headers, attachments } = await PostalMime.parse(beginningOf(message), {
    forceRfc822Attachments: true,
    maxNestingDepth,
  }).catch(() => ({ headers: [], attachments: [] }));
  const outer = new Map(headers.map(({ key, value }) => [key, value]));
  const part = (type: RegExp) => attachments.find(({ mimeType }) => type.test(mimeType));
  const status = part(/^message\/(global-)?delivery-status$/);
  const feedback = part(/^message\/feedback-report$/);
  const returned = part(
    /^(message\/rfc822|message\/global|text\/rfc822-headers|message\/global-headers)$/,
  );
  const [original = new Map()] = returned ? fieldGroups(textOf(returned)) : [];
  const form = (outer.get('content-type') ?? '').toLowerCase();
  const ids = originalIdsOf(outer, original);
  const isReport = form.startsWith('multipart/report');

  if (isReport && status) {
    const groups = fieldGroups(textOf(status));
    const statuses = groups.slice(1, 1 + maxRecipients).map(statusOf);
    return { ...ids, kind: 'delivery', statuses, feedback: '' };
  }
  if (isReport && feedback) {
    const [fields = new Map()] = fieldGroups(textOf(feedback));
    ids.returnPaths.push(...addressesIn(fields.get('original-mail-from') ?? ''));
    const type = (fields.get('feedback-type') ?? '').toLowerCase();
    return { ...ids, kind: 'complaint', statuses: [], feedback: type };
  }
  return { ...ids, kind: 'other', statuses: [], feedback: '' };
}

// Parsing time grows with the number of lines and the length of the headers.
const maxBytes = 64 * 1024;
const maxLines = 2000;
const maxLineBytes = 2000;
const maxHeaderBytes = 12 * 1024;

/** Cuts a message to a size that is cheap to parse, and shortens overlong lines. */
function beginningOf(message: Uint8Array): Uint8Array {
  const text = Buffer.from(message.buffer, message.byteOffset, message.length).toString('latin1');
  const lines: string[] = [];
  let bytes = 0;
  for (let at = 0; at < text.length && lines.length < maxLines && bytes < maxBytes; ) {
    const end = text.indexOf('\n', at) < 0 ? text.length : text.indexOf('\n', at);
    const line = text.slice(at, Math.min(end, at + maxLineBytes));
    lines.push(line);
    bytes += line.length + 1;
    at = end + 1;
  }
  return Buffer.from(shortenHeaders(lines.join('\n')), 'latin1');
}

function shortenHeaders(text: string): string {
  const end = /\r?\n\r?\n/.exec(text)?.index ?? text.length;
  if (end <= maxHeaderBytes) return text;
  const lastLineEnd = text.lastIndexOf('\n', maxHeaderBytes);
  return text.slice(0, lastLineEnd < 0 ? maxHeaderBytes : lastLineEnd) + text.slice(end);
}

function statusOf(fields: Fields): RecipientStatus {
  const value = (name: string) => fields.get(name) ?? '';
  const untyped = (name: string) => value(name).replace(typePrefix, '').trim();
  const recipients = ['original-recipient', 'final-recipient']
    .map((name) => untyped(name).replace(/^<|>$/g, '').toLowerCase())
    .filter((address) => address !== '');
  return {
    action: value('action').trim().toLowerCase(),
    status: /[245]\.\d{1,3}\.\d{1,3}/.exec(value('status'))?.[0] ?? '',
    recipients,
    diagnostic: untyped('diagnostic-code'),
  };
}

/** Such as `rfc822;`. */
const typePrefix = /^[^;]*;/;

const recipientHeaders = ['to', 'delivered-to', 'x-original-to', 'envelope-to'];

function originalIdsOf(outer: Fields, original: Fields) {
  const addressed = recipientHeaders.map((name) => outer.get(name));
  const values = [...addressed, original.get('return-path')];
  const returnPaths = values.flatMap((value = '') => addressesIn(value));
  const messageIds = [...(original.get('message-id') ?? '').matchAll(/<([^<>\s]{1,250})>/g)].map(
    ([, id = '']) => id,
  );
  return { returnPaths, messageIds };
}

const addressesIn = (value: string) =>
  [...value.slice(0, 10_000).matchAll(/[^\s<>,;:"()]{1,64}@[^\s<>,;:"()]{1,253}/g)].map(
    ([address]) => address,
  );

/** Parses blocks of header fields that empty lines separate. The first of repeated fields counts. */
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
