import { createHash } from 'node:crypto';
import { encodeWord, encodeWords, foldLines, quoteString } from 'nodemailer/lib/mime-funcs';
import MimeNode from 'nodemailer/lib/mime-node';
import { oneLine } from '../validation/parse.ts';
import type { Mailbox } from './address.ts';
import { cutAtSlots, fillBody, fillLine, hasSlots, headerSlots, slotValue } from './pool.ts';

/** One mail for many people. Its subject, `text`, `html` and header values may hold slots. */
export type MessageTemplate = {
  from: Mailbox;
  replyTo: string | null;
  subject: string;
  headers: Readonly<Record<string, string>>;
  text: string;
  html: string;
};

/** What one recipient's message has of its own. */
export type Filling = {
  to: Mailbox;
  /** Without its angle brackets. */
  messageId: string;
  date: Date;
  slots: Readonly<Record<string, string>>;
};

/**
 * Composes a message once, through nodemailer, and answers a function that fills it for a recipient:
 * a complete message in ASCII with CRLF line ends, ready for DATA but for its dots.
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

/** Stands for what is filled in later: a word that the template cannot contain, since it is its hash. */
function markOf(template: MessageTemplate): string {
  return createHash('sha256').update(JSON.stringify(template)).digest('hex').slice(0, 20);
}

function skeletonOf(template: MessageTemplate, mark: string): string {
  const marked = (name: string) => `${mark}.${name}.`;
  // A boundary with "=_" cannot occur in quoted-printable, so no text can break out of its part.
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

/** Headers of message ids, which nodemailer takes as text alone. */
const idHeaders = /^(in-reply-to|references)$/i;

/** A header value that nodemailer leaves as it is. */
const prepared = (value: string) => ({ prepared: true, value });

function addPart(root: MimeNode, contentType: string, content: string) {
  const part = root.createChild(contentType);
  part.setHeader('Content-Transfer-Encoding', 'quoted-printable');
  part.setContent(content);
}

/** Without streams, which nodemailer would only build asynchronously: the marks need no encoding. */
function build(root: MimeNode): string {
  // The boundary exists once the headers are built.
  const head = root.buildHeaders();
  const parts = root.childNodes.map(
    (part) => `--${root.boundary}\r\n${part.buildHeaders()}\r\n\r\n${String(part.content)}\r\n`,
  );
  return `${head}\r\n\r\n${parts.join('')}--${root.boundary}--\r\n`;
}

type Piece = { static: string; name: string | null };

function cutAtMarks(skeleton: string, mark: string): Piece[] {
  // split() with one group alternates between text and the name of a mark.
  const texts = skeleton.split(new RegExp(`${mark}\\.([a-z_-]+)\\.`));
  return texts
    .filter((_, at) => at % 2 === 0)
    .map((text, at) => ({ static: text, name: texts[2 * at + 1] ?? null }));
}

/** As nodemailer writes an address: a plain name bare, an ASCII one quoted, any other as encoded words. */
function toHeader({ name, address }: Mailbox): string {
  const shown = name === null ? '' : oneLine(name);
  if (shown === '') return headerSafe(address);
  // Folded without its "To: ", after which a fold would leave a header line of nothing.
  return foldLines(`${encodedName(shown)} <${headerSafe(address)}>`, 72);
}

function encodedName(name: string): string {
  if (/^[\w ]*$/.test(name)) return name;
  if (/^[\x20-\x7e]*$/.test(name)) return quoteString(name);
  return encodeWord(name, encodingFor(name), 52);
}

/** What is mostly Latin stays readable in the message's source. */
const encodingFor = (text: string) =>
  (text.match(/[A-Za-z]/g)?.length ?? 0) * 2 > text.length ? 'Q' : 'B';

/** What one placeholder may add to a subject. */
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

/** A line of a header has at most 998 characters, and is folded at blanks alone. */
const longWord = /\S{500}/;

/** As nodemailer writes a subject, folded as the rest of its line. Encoded words can be folded anywhere. */
function subjectHeader(subject: string): string {
  const name = 'Subject: ';
  const text = oneLine(subject);
  const words = longWord.test(text)
    ? encodeWord(text, encodingFor(text), 52)
    : encodeWords(text, encodingFor(text), 52, true);
  return foldLines(name + words, 76).slice(name.length);
}

/** Header values come from us, from checked addresses and from tokens: anything else is a bug. */
function headerSafe(value: string): string {
  if (/[^\x20-\x7e\ufdd0\ufdd1]/.test(value))
    throw new Error('a header value must be printable ASCII');
  return value;
}

const mailDate = (date: Date) => date.toUTCString().replace('GMT', '+0000');

/**
 * A message as it goes after DATA: a line that begins with a dot gets another one, and the last line
 * ends. Its line ends must be CRLF already. Most messages come back as they are, uncopied.
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
