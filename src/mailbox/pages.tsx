import { type Context, Hono, type MiddlewareHandler } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import PostalMime, { decodeWords } from 'postal-mime';
import { notFound, orNotFound, Refusal } from '../errors.ts';
import { constantTimeEqual } from '../lib/crypto/secrets.ts';
import type { Db } from '../lib/db/db.ts';
import { isLocalRequest } from '../lib/http/listen.ts';
import { parsePage } from '../lib/paging/page.ts';
import { idParam } from '../lib/validation/parse.ts';
import { wantsJson } from '../web/headers.ts';
import { languageOf } from '../web/language.ts';
import { type HtmlPage, oneLine, renderPage } from '../web/layout.tsx';
import { showPage } from '../web/show.ts';
import { findMessage, listMessages, type MessageRow } from './mailbox.ts';

type MailboxTools = MailboxAccess & { db: Db };

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
  const rows = (await listMessages(db, { page, limit })).map(shownRow);
  const messages = rows.slice(0, limit);
  if (wantsJson(c)) return c.json({ data: messages });
  const customLimit = c.req.query('limit');
  const pathOf = (to: number) =>
    `/mailbox?${new URLSearchParams({ ...(customLimit && { limit: customLimit }), page: String(to) })}`;
  return showPage(
    c,
    messagesPage(messages, {
      newer: page > 1 && pathOf(page - 1),
      older: rows.length > limit && pathOf(page + 1),
    }),
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
  const message = await findMessage(db, idParam(c, 'message'));
  return orNotFound(message, 'message');
}

const shownRow = ({ id, mail_from, rcpt_to, subject, received_at }: MessageRow) => ({
  id,
  from: mail_from,
  to: rcpt_to,
  subject: decodeWords(subject),
  received_at,
});

const cookieName = 'askback_mailbox';

export type MailboxAccess = {
  /** True if no SMTP server is configured. */
  mailbox: boolean;
  /** Null if the service is not reachable from other machines. */
  mailboxSecret?: string | null;
};

export const mailboxUrl = (address: string, secret: string | null) =>
  secret === null ? `${address}/mailbox` : `${address}/mailbox?secret=${secret}`;

/**
 * Admits local callers that have the secret, if one is set. A proxy on the same machine makes every visitor look local.
 * The link to the mailbox stores the secret in a cookie.
 */
export const guardMailbox =
  ({ mailbox, mailboxSecret = null }: MailboxAccess): MiddlewareHandler =>
  async (c, next) => {
    if (!mailbox) throw notFound('path');
    if (!isLocalRequest(c)) {
      throw new Refusal('forbidden', 'the mailbox is only available on the machine itself');
    }
    if (mailboxSecret === null) return await next();
    const secret = c.req.query('secret');
    if (secret !== undefined && constantTimeEqual(secret, mailboxSecret))
      return rememberSecret(c, mailboxSecret);
    if (constantTimeEqual(getCookie(c, cookieName) ?? '', mailboxSecret)) return await next();
    throw new Refusal(
      'forbidden',
      'open the mailbox with the link that `askback serve` printed at startup',
    );
  };

function rememberSecret(c: Context, secret: string): Response {
  setCookie(c, cookieName, secret, { path: '/mailbox', httpOnly: true, sameSite: 'Strict' });
  c.header('Cache-Control', 'no-store');
  c.header('Referrer-Policy', 'no-referrer');
  return c.redirect(c.req.path, 303);
}

const language = languageOf('en');

function messagesPage(
  messages: readonly ReturnType<typeof shownRow>[],
  { newer, older }: { newer: string | false; older: string | false },
): HtmlPage {
  const rows = messages.map(({ id, to, subject, received_at }) => (
    <li>
      <a href={`/mailbox/${id}`}>
        <strong dir="auto">{subject || '(no subject)'}</strong>
        <span>{to}</span>
        <Time at={received_at} />
      </a>
    </li>
  ));
  return renderPage({
    language,
    title: 'Mailbox',
    style,
    body: (
      <>
        <h1>Mailbox</h1>
        <p class="about">
          No SMTP server is configured, so emails stay on this machine and appear here. To send
          them, set <code>ASKBACK_SMTP_URL</code>.
        </p>
        {rows.length > 0 ? (
          <ul>{rows}</ul>
        ) : (
          <p class="empty">No emails yet. Send a survey, and its email appears here.</p>
        )}
        <nav aria-label="Pages">
          {newer && <a href={newer}>Newer</a>}
          {older && <a href={older}>Older</a>}
        </nav>
      </>
    ),
  });
}

type ShownMessage = ReturnType<typeof shownRow> & {
  headers: readonly { name: string; value: string }[];
  text: string;
  html: string | null;
};

function messagePage({ headers, text, html, ...message }: ShownMessage): HtmlPage {
  const { id, from, to, subject, received_at } = message;
  const page = renderPage({
    language,
    title: subject || '(no subject)',
    style,
    body: (
      <>
        <p class="back">
          <a href="/mailbox">Back to Mailbox</a>
        </p>
        <h1 dir="auto">{subject || '(no subject)'}</h1>
        <p class="about">
          From {from} to {to}, <Time at={received_at} />
        </p>
        {html && (
          <iframe
            title="HTML part"
            src={`/mailbox/${id}/html`}
            sandbox="allow-popups allow-popups-to-escape-sandbox"
          />
        )}
        <h2>Plain text</h2>
        <pre dir="auto">{text}</pre>
        <details>
          <summary>Headers</summary>
          <dl>
            {headers.map(({ name, value }) => (
              <>
                <dt>{name}</dt>
                <dd>{value}</dd>
              </>
            ))}
          </dl>
        </details>
        <p class="back">
          <a href={`/mailbox/${id}/raw`}>Raw message</a>
        </p>
      </>
    ),
  });
  const policy = 'Content-Security-Policy';
  const rules = `${page.headers[policy]}; frame-src 'self'`;
  return { html: page.html, headers: { ...page.headers, [policy]: rules } };
}

/** The HTML part for the frame: runs and loads nothing, and opens links in new tabs. */
function mailHtml(html: string): HtmlPage {
  const opensElsewhere = html.replace(/<head[^>]*>/i, '$&<base target="_blank">');
  const headers = {
    'Content-Security-Policy': [
      'sandbox allow-popups allow-popups-to-escape-sandbox',
      "default-src 'none'",
      "style-src 'unsafe-inline'",
      'img-src data:',
      "form-action 'none'",
      "frame-ancestors 'self'",
    ].join('; '),
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
    'Cache-Control': 'no-store',
  };
  return { html: opensElsewhere, headers };
}

const Time = ({ at }: { at: Date }) => (
  <time datetime={at.toISOString()}>{at.toISOString().slice(0, 19).replace('T', ' ')} UTC</time>
);

const style = oneLine(`
main a { color: var(--accent) }
.about { margin-top: .5rem; color: var(--muted); overflow-wrap: anywhere }
.empty { margin-top: 1.5rem }
.back { margin: 0 0 1rem }
.back a, nav a { display: inline-block; min-height: 2.75rem; padding: .625rem 0 }
summary { padding: .625rem 0; cursor: pointer }
h2 { margin: 2rem 0 .5rem; font-size: 1.125rem }
ul { margin: 1.5rem 0; padding: 0; list-style: none }
li { border-top: 1px solid color-mix(in srgb, var(--line) 30%, #0000) }
li a { display: flex; flex-wrap: wrap; justify-content: space-between; gap: .125rem 1rem; padding: .75rem 0; color: var(--text); text-decoration: none; overflow-wrap: anywhere }
li strong { flex: 1 0 100% }
li span, li time { color: var(--muted); font-size: .875rem }
nav { display: flex; gap: 1.5rem }
iframe { display: block; width: 100%; height: 40rem; margin-top: 1.5rem; border: 1px solid var(--line); border-radius: .5rem; background: #fff }
pre { margin: 0; white-space: pre-wrap; overflow-wrap: anywhere; font: .875rem/1.5 ui-monospace, monospace }
details { margin: 1.5rem 0 }
dl { margin: 0; font-size: .875rem }
dt { margin-top: .5rem; color: var(--muted) }
dd { margin: 0; overflow-wrap: anywhere }
`);
