import { type Context, Hono } from 'hono';
import { recordAct, type Writer } from '../audit/acts.ts';
import { addressErased, isErasedAddress } from '../contacts/erase.ts';
import { markBlocked, markManyBlocked, markUnblocked } from '../contacts/queries.ts';
import { notFound } from '../errors.ts';
import { type Db, inTransaction, type Sql } from '../lib/db/db.ts';
import { linkTrace } from '../lib/http/request-spans.ts';
import { addressKey } from '../lib/smtp/address.ts';
import { logoPath } from '../organizations/logo.ts';
import { holdOffErasures } from '../surveys/queries.ts';
import { languageFor } from '../surveys/texts.ts';
import { wantsJson } from '../web/headers.ts';
import { isolate, type Language, languageOf } from '../web/language.ts';
import { type HtmlPage, oneLine, renderPage, type Sender } from '../web/layout.tsx';
import { showPage } from '../web/show.ts';
import {
  deleteSuppression,
  deleteUnsubscribed,
  findSubscriber,
  insertSuppression,
  insertSuppressions,
  type KnownSuppression,
  listKinds,
  type Subscriber,
} from './queries.ts';

type Tools = { db: Db };
type State = UnsubscribeProps['state'];

/**
 * Where the unsubscribe links of mails lead. Opening one changes nothing: mail scanners open every link.
 * A mail program's one-click unsubscribe (RFC 8058) is the same POST as the button's, answered at once.
 */
export const unsubscribePages = (tools: Tools) =>
  new Hono()
    .on(['GET', 'HEAD'], ['/u/:token', '/u/:token/undo'], (c) =>
      withSubscriber(c, tools, async ({ unsubscribed }) => (unsubscribed ? 'unsubscribed' : 'ask')),
    )
    .post('/u/:token', (c) =>
      withSubscriber(c, tools, async (subscriber) => {
        await unsubscribe(tools, subscriber);
        return 'unsubscribed';
      }),
    )
    .post('/u/:token/undo', (c) =>
      withSubscriber(c, tools, async (subscriber) => {
        await resubscribe(tools, subscriber);
        return 'resubscribed';
      }),
    );

/** Answers with how it stands afterwards: a page for people, JSON for programs. */
async function withSubscriber(
  c: Context,
  { db }: Tools,
  act: (subscriber: Subscriber) => Promise<State>,
) {
  const token = c.req.param('token') ?? '';
  const subscriber = await findSubscriber(db, token);
  if (!subscriber) throw notFound('subscription');
  linkTrace(c, subscriber.mail_traceparent);
  const state = await act(subscriber);
  const { email, organization, color, wished_language: property } = subscriber;
  const language = languageFor(subscriber, {
    property,
    accepted: c.req.header('Accept-Language'),
  });
  if (wantsJson(c)) return c.json({ data: { email, unsubscribed: state === 'unsubscribed' } });
  const action = state === 'unsubscribed' ? `/u/${token}/undo` : `/u/${token}`;
  const sender = { name: organization, color, logo: logoPath(subscriber.org_id, subscriber.logo) };
  return showPage(
    c,
    unsubscribePage({ state, sender, email, action, language: languageOf(language) }),
  );
}

type UnsubscribeTools = { db: Db };
type OrgAddress = { orgId: string; email: string };

/** From now on no survey of the organization goes to the address. Doing it again changes nothing. */
export async function unsubscribe({ db }: UnsubscribeTools, subscriber: Subscriber) {
  const address = addressOf(subscriber);
  await inTransaction(db, (tx) => suppress(tx, address, { kind: 'unsubscribed', detail: null }));
}

/** Undoes it. An address whose mailbox does not exist still gets no mail. */
async function resubscribe({ db }: UnsubscribeTools, subscriber: Subscriber) {
  const { orgId, email } = addressOf(subscriber);
  await inTransaction(db, async (tx) => {
    if (await deleteUnsubscribed(tx, orgId, email)) await release(tx, { orgId, email });
  });
}

/** Lifts one suppression of the organization, whatever its kind. */
export async function liftSuppression({ db }: UnsubscribeTools, writer: Writer, id: string) {
  await inTransaction(db, async (tx) => {
    const freed = await deleteSuppression(tx, writer.orgId, id);
    if (!freed) throw notFound('suppression');
    await release(tx, { orgId: writer.orgId, email: freed.email });
    const target = { kind: 'suppression', id };
    await recordAct(tx, { ...writer, act: 'suppression.removed', target });
  });
}

/** Keeps an address from being mailed, as if its owner had asked for it. Doing it again changes nothing. */
export async function suppressByHand(
  { db }: UnsubscribeTools,
  { orgId, actor }: Writer,
  email: string,
) {
  await inTransaction(db, async (tx) => {
    const address = { orgId, email: addressKey(email) };
    const isStored = await suppress(tx, address, { kind: 'unsubscribed', detail: null });
    if (!isStored) throw addressErased();
    await recordAct(tx, { orgId, actor, act: 'suppression.added' });
  });
}

type SuppressionReason = { kind: 'unsubscribed' | 'bounced'; detail: string | null };

/**
 * Returns false for the address of a person who was erased, of which nothing is stored: its hash keeps it from being
 * mailed already.
 */
export async function suppress(
  tx: Sql,
  address: OrgAddress,
  { kind, detail }: SuppressionReason,
): Promise<boolean> {
  await holdOffErasures(tx, address.orgId);
  if (await isErasedAddress(tx, address.orgId, address.email)) return false;
  await insertSuppression(tx, { ...address, kind, detail });
  await markBlocked(tx, address, { status: kind, reason: detail });
  return true;
}

/** Takes over addresses that another service mails no more; returns those that are new. */
export async function suppressMany(
  tx: Sql,
  orgId: string,
  suppressions: readonly KnownSuppression[],
) {
  const added = await insertSuppressions(tx, orgId, suppressions);
  await markManyBlocked(tx, orgId, added);
  return added;
}

async function release(tx: Sql, address: OrgAddress) {
  const kinds = await listKinds(tx, address.orgId, address.email);
  if (kinds.includes('unsubscribed')) return;
  await markUnblocked(tx, { ...address, bounced: kinds.includes('bounced') });
}

const addressOf = ({ org_id, email }: Subscriber): OrgAddress => ({
  orgId: org_id,
  email: addressKey(email),
});

export type UnsubscribeProps = {
  /** `ask` before, `unsubscribed` after it, `resubscribed` after it was undone. */
  state: 'ask' | 'unsubscribed' | 'resubscribed';
  language: Language;
  sender: Sender;
  email: string;
  /** Where the button posts to: unsubscribes before, undoes it after. */
  action: string;
};

/** Opening the page changes nothing; its button does. */
export function unsubscribePage({
  state,
  language,
  sender,
  email,
  action,
}: UnsubscribeProps): HtmlPage {
  const { unsubscribe, unsubscribed, resubscribed } = language.texts;
  const { title, text } = { ask: unsubscribe, unsubscribed, resubscribed }[state];
  const button = { ask: unsubscribe.action, unsubscribed: unsubscribed.undo, resubscribed: null }[
    state
  ];
  return renderPage({
    language,
    sender,
    title,
    style,
    body: (
      <>
        <h1>{title}</h1>
        <p>{text(isolate(email), isolate(sender.name))}</p>
        {button && (
          <form method="post" action={action}>
            <button type="submit" class={state === 'ask' ? undefined : 'quiet'}>
              {button}
            </button>
          </form>
        )}
      </>
    ),
  });
}

const style = oneLine(`
h1 + p { margin-top: .75rem; font-size: 1.0625rem; color: var(--muted); overflow-wrap: anywhere }
form { margin-top: 2rem }
`);
