import { createHash } from 'node:crypto';
import { encodeWord, encodeWords, foldLines, quoteString } from 'nodemailer/lib/mime-funcs';
import MimeNode from 'nodemailer/lib/mime-node';
import { encode, wrap } from 'nodemailer/lib/qp';
import { oneLine } from '../validation/parse.ts';
import type { Mailbox } from './address.ts';

/** One mail for many people. Its subject, `text`, `html` and header values may hold slots. */
export type MessageTemplate = {
  from: Mailbox;
  replyTo: string | null;
  subject: string;
  headers: Readonly<Record<string, string>>;
  text: string;
  html: string;
};

export type Filling = {
  to: Mailbox;
  /** Contains no angle brackets. */
  messageId: string;
  date: Date;
  slots: Readonly<Record<string, string>>;
};

/**
 * Composes a message once, through nodemailer, and returns a function that fills it for a recipient. The result is
 * complete, in ASCII with CRLF line ends, and only needs dot-stuffing before DATA.
 */
export function compose(template: MessageTemplate): (filling: Filling) => Buffer {
  const mark = markOf(template);
  const skeleton = cutAtMarks(skeletonOf(template, mark), mark);
  const text = cutAtSlots(template.text, 'text');
  const html = cutAtSlots(template.html, 'html');

  return ({ to, messageId, date, slots }) => {
    const fill: Record<string, () => string> = {
      to: () => toHeader(to),
      'message-id': () => headerSafe(messageId),
      date: () => mailDate(date),
      subject: () => subjectHeader(fillLine(template.subject, cutAll(slots))),
      text: () => fillBody(text, slots),
      html: () => fillBody(html, slots),
    };
    let message = '';
    for (const piece of skeleton) {
      message += piece.static;
      if (piece.name !== null)
        message += fill[piece.name]?.() ?? headerSafe(slotValue(slots, piece.name));
    }
    return Buffer.from(message, 'latin1');
  };
}

/** A hash of the template, so the template cannot contain it. */
function markOf(template: MessageTemplate): string {
  return createHash('sha256').update(JSON.stringify(template)).digest('hex').slice(0, 20);
}

function skeletonOf(template: MessageTemplate, mark: string): string {
  const marked = (name: string) => `${mark}.${name}.`;
  // "=_" cannot occur in quoted-printable, so no text can break out of its part.
  const root = new MimeNode('multipart/alternative', {
    boundaryPrefix: '=_',
    baseBoundary: 'part',
  });
  root.setHeader('From', [{ name: template.from.name ?? '', address: template.from.address }]);
  if (template.replyTo) root.setHeader('Reply-To', [{ name: '', address: template.replyTo }]);
  if (hasSlots(template.subject)) root.setHeader('Subject', prepared(marked('subject')));
  else root.setHeader('Subject', oneLine(template.subject));
  root.setHeader('Date', marked('date'));
  root.setHeader('Message-ID', `<${marked('message-id')}>`);
  for (const [key, value] of Object.entries(template.headers)) {
    const text = headerSlots(headerSafe(value), marked);
    root.setHeader(key, idHeaders.test(key) ? text : prepared(text));
  }
  addPart(root, 'text/plain; charset=utf-8', marked('text'));
  addPart(root, 'text/html; charset=utf-8', marked('html'));
  return `To: ${marked('to')}\r\n${build(root)}`;
}

/** nodemailer takes message ids only as plain text. */
const idHeaders = /^(in-reply-to|references)$/i;

/** A header value that nodemailer does not encode or fold. */
const prepared = (value: string) => ({ prepared: true, value });

function addPart(root: MimeNode, contentType: string, content: string) {
  const part = root.createChild(contentType);
  part.setHeader('Content-Transfer-Encoding', 'quoted-printable');
  part.setContent(content);
}

/** Joins the parts synchronously. nodemailer's own builder uses streams, and the marks need no encoding. */
function build(root: MimeNode): string {
  const head = root.buildHeaders();
  const parts = root.childNodes.map(
    (part) => `--${root.boundary}\r\n${part.buildHeaders()}\r\n\r\n${String(part.content)}\r\n`,
  );
  return `${head}\r\n\r\n${parts.join('')}--${root.boundary}--\r\n`;
}

function cutAtMarks(skeleton: string, mark: string) {
  // split() with one group alternates between text and the name of a mark.
  const texts = skeleton.split(new RegExp(`${mark}\\.([a-z_-]+)\\.`));
  return texts
    .filter((_, at) => at % 2 === 0)
    .map((text, at) => ({ static: text, name: texts[2 * at + 1] ?? null }));
}

/** Encodes like nodemailer: a plain name bare, other ASCII quoted, anything else as encoded words. */
function toHeader({ name, address }: Mailbox): string {
  const shown = name === null ? '' : oneLine(name);
  if (shown === '') return headerSafe(address);
  // Folded without "To: ", so that the first line is never empty.
  return foldLines(`${encodedName(shown)} <${headerSafe(address)}>`, 72);
}

function encodedName(name: string): string {
  if (/^[\w ]*$/.test(name)) return name;
  if (/^[\x20-\x7e]*$/.test(name)) return quoteString(name);
  return encodeWord(name, encodingFor(name), 52);
}

/** Keeps mostly Latin text readable in the message source. */
const encodingFor = (text: string) =>
  (text.match(/[A-Za-z]/g)?.length ?? 0) * 2 > text.length ? 'Q' : 'B';

const maxInSubject = 200;

const halfPair = /[\ud800-\udbff]$/;

const cutAll = (slots: Filling['slots']) =>
  Object.fromEntries(
    Object.entries(slots).map(([name, value]) => [
      name,
      value.length > maxInSubject
        ? `${value.slice(0, maxInSubject - 1).replace(halfPair, '')}…`
        : value,
    ]),
  );

/** A header line has at most 998 characters and is folded only at spaces, so long words must be encoded. */
const longWord = /\S{500}/;

function subjectHeader(subject: string): string {
  const name = 'Subject: ';
  const text = oneLine(subject);
  const words = longWord.test(text)
    ? encodeWord(text, encodingFor(text), 52)
    : encodeWords(text, encodingFor(text), 52, true);
  return foldLines(name + words, 76).slice(name.length);
}

/** A placeholder for a recipient's own words, marked by noncharacters, which no text contains. */
export const slot = (name: string) => `\ufdd0${name}\ufdd1`;

const slotForm = /\ufdd0([a-z0-9_]+)\ufdd1/;
const everySlot = new RegExp(slotForm.source, 'g');

const headerSlots = (value: string, marked: (name: string) => string) =>
  value.replace(everySlot, (_, name: string) => marked(name));

const hasSlots = (text: string) => slotForm.test(text);

const fillLine = (line: string, slots: Readonly<Record<string, string>>) =>
  line.replace(everySlot, (_, name: string) => slotValue(slots, name));

type Body = { kind: 'text' | 'html'; pieces: Piece[] };
/** Already encoded, or the name of a slot. */
type Piece = { encoded: string } | { slot: string };

/** Encodes a body as quoted-printable and cuts it at its slots. */
function cutAtSlots(body: string, kind: Body['kind']): Body {
  // split() with one group alternates between text and the name of a slot.
  const pieces = body
    .split(slotForm)
    .map((text, at) => (at % 2 === 0 ? { encoded: quotedPrintable(text) } : { slot: text }));
  return { kind, pieces };
}

/** Joins the pieces with soft line breaks, so that each piece stays encoded as it is. */
function fillBody({ kind, pieces }: Body, slots: Readonly<Record<string, string>>): string {
  let filled = '';
  // Tracked here, because reading the end of `filled` would flatten the string each time.
  let atLineStart = true;
  for (const piece of pieces) {
    const encoded = 'encoded' in piece ? piece.encoded : encodedSlot(kind, slots, piece.slot);
    if (encoded === '') continue;
    filled += atLineStart ? encoded : `=\r\n${encoded}`;
    atLineStart = encoded.endsWith('\n');
  }
  return filled;
}

function encodedSlot(kind: Body['kind'], slots: Readonly<Record<string, string>>, name: string) {
  const value = slotValue(slots, name);
  if (plainWord.test(value)) return value;
  return quotedPrintable(kind === 'html' ? escapeHtml(value) : value);
}

function slotValue(slots: Readonly<Record<string, string>>, name: string): string {
  const value = slots[name];
  if (value === undefined) throw new Error(`no value for the slot ${name}`);
  return value;
}

const plainWord = /^[A-Za-z0-9_-]{1,72}$/;

// A line may have 76 characters. A soft line break adds one, and an encoded dot adds two.
const maxLineLength = 73;

/** Encodes dots at the start of lines, because some servers do not undo dot-stuffing. */
const quotedPrintable = (text: string) =>
  wrap(encode(text.toWellFormed().replace(/\r\n|\r|\n/g, '\r\n')), maxLineLength).replace(
    /^\./gm,
    '=2E',
  );

const escapes: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const escapeHtml = (text: string) => text.replace(/[&<>"']/g, (character) => escapes[character]!);

/** Header values are checked before, so anything else is a bug. */
function headerSafe(value: string): string {
  if (/[^\x20-\x7e\ufdd0\ufdd1]/.test(value))
    throw new Error('a header value must be printable ASCII');
  return value;
}

const mailDate = (date: Date) => date.toUTCString().replace('GMT', '+0000');

/**
 * Doubles dots at the start of lines and ends the last line, as DATA requires. Line ends must be CRLF already. Most
 * messages are returned uncopied.
 */
export function dotStuff(message: Buffer): Buffer {
  const ends = message.subarray(-2).equals(lineEnd);
  if (ends && message[0] !== dot && !message.includes(lineAndDot)) return message;
  const text = message.toString('latin1').replace(/(^|\r\n)\./g, '$1..');
  return Buffer.from(ends ? text : `${text}\r\n`, 'latin1');
}

const dot = 0x2e;
const lineEnd = Buffer.from('\r\n');
const lineAndDot = Buffer.from('\r\n.');
