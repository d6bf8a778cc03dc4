import { type Context, Hono } from 'hono';
import PostalMime, { decodeWords } from 'postal-mime';
import { notFound } from '../errors.ts';
import type { Db } from '../lib/db/db.ts';
import { parsePage } from '../lib/paging/page.ts';
import { isUuid } from '../lib/validation/parse.ts';
import { showPage } from '../web/show.ts';
import { wantsJson } from '../web/wants-json.ts';
import { guardMailbox, type MailboxAccess } from './access.ts';
import { mailHtml, messagePage, messagesPage } from './page.tsx';
import { findMessage, listMessages, type MessageRow } from './queries.ts';

type MailboxTools = MailboxAccess & { db: Db };

/** The built-in mailbox: for readers on this machine, and only while mails land in it. */
export const mailboxPages = (tools: MailboxTools) =>
  new Hono()
    .use(guardMailbox(tools))
    .get('/', (c) => showList(c, tools))
    .get('/:id', (c) => showMessage(c, tools))
    .get('/:id/html', (c) => showHtml(c, tools))
    .get('/:id/raw', async (c) => {
      const { raw } = await getMessage(c, tools);
      return c.body(new Uint8Array(raw), 200, {
        'Content-Type': 'text/plain; charset=utf-8',
        'X-Content-Type-Options': 'nosniff',
        'Cache-Control': 'no-store',
      });
    });

async function showList(c: Context, { db }: MailboxTools) {
  const { page, limit } = parsePage(c.req.queries());
  const found = (await listMessages(db, { page, limit })).map(shownRow);
  const messages = found.slice(0, limit);
  if (wantsJson(c)) return c.json({ data: messages });
  return showPage(
    c,
    messagesPage({ messages, page, limit: c.req.query('limit'), more: found.length > limit }),
  );
}

async function showMessage(c: Context, tools: MailboxTools) {
  const { raw, ...row } = await getMessage(c, tools);
  const { text = '', html, headers } = await PostalMime.parse(raw);
  const message = {
    ...shownRow(row),
    headers: headers.map(({ originalKey, value }) => ({ name: originalKey, value })),
    text,
    html: html ?? null,
  };
  return wantsJson(c) ? c.json({ data: message }) : showPage(c, messagePage(message));
}

async function showHtml(c: Context, tools: MailboxTools) {
  const { raw } = await getMessage(c, tools);
  const { html } = await PostalMime.parse(raw);
  if (!html) throw notFound('HTML part');
  return showPage(c, mailHtml(html));
}

async function getMessage(c: Context, { db }: MailboxTools) {
  const id = c.req.param('id') ?? '';
  const message = isUuid(id) && (await findMessage(db, id));
  if (!message) throw notFound('message');
  return message;
}

const shownRow = ({ id, mail_from, rcpt_to, subject, received_at }: MessageRow) => ({
  id,
  from: mail_from,
  to: rcpt_to,
  subject: decodeWords(subject),
  received_at,
});
