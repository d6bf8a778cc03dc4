import { type Context, Hono } from 'hono';
import { recordAct, type Writer } from '../audit/acts.ts';
import { addressErased, isErasedAddress } from '../contacts/erase.ts';
import { markBlocked, markUnblocked } from '../contacts/queries.ts';
import { notFound, Refusal } from '../errors.ts';
import { type Db, inTransaction, type Sql } from '../lib/db/db.ts';
import { linkTrace } from '../lib/http/request-spans.ts';
import { addressKey } from '../lib/smtp/address.ts';
import { logoPath } from '../organizations/logo.ts';
import { shareIdOfTest } from '../surveys/lifecycle.ts';
import { holdOffErasures } from '../surveys/queries.ts';
import { languageFor } from '../surveys/texts.ts';
import { wantsJson } from '../web/headers.ts';
import { isolate, type Language, languageOf } from '../web/language.ts';
import { type HtmlPage, oneLine, renderPage, type Sender } from '../web/layout.tsx';
import { showPage } from '../web/show.ts';
import {
  endSuppression,
  findSubscriber,
  findTestSubscriber,
  insertSuppressions,
  listSuppressionKinds,
  lockSuppression,
  type NewSuppression,
  type Subscriber,
  type Suppression,
} from './queries.ts';

type Tools = { db: Db };
type State = UnsubscribeProps['state'];

/**
 * Pages of unsubscribe links. Opening a link changes nothing, because mail scanners open every link. The one-click POST
 * of mail programs (RFC 8058) has the same effect as the button.
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

async function withSubscriber(
  c: Context,
  { db }: Tools,
  act: (subscriber: Subscriber) => Promise<State>,
) {
  const token = c.req.param('token') ?? '';
  const tested = shareIdOfTest(token);
  const subscriber =
    tested === undefined ? await findSubscriber(db, token) : await findTestSubscriber(db, tested);
  if (!subscriber) throw notFound('subscription');
  linkTrace(c, subscriber.mail_traceparent);
  // Links of test emails change nothing.
  const state = tested === undefined ? await act(subscriber) : 'ask';
  const { email, organization, color, wished_language: property } = subscriber;
  if (wantsJson(c)) return c.json({ data: { email, unsubscribed: state === 'unsubscribed' } });
  const accepted = c.req.header('Accept-Language');
  const language = languageOf(languageFor(subscriber, { property, accepted }));
  const action = state === 'unsubscribed' ? `/u/${token}/undo` : `/u/${token}`;
  const sender = { name: organization, color, logo: logoPath(subscriber.org_id, subscriber.logo) };
  return showPage(c, unsubscribePage({ state, sender, email, action, language }));
}

export async function unsubscribe({ db }: Tools, { org_id: orgId, email }: Subscriber) {
  const address = { orgId, email: addressKey(email) };
  await inTransaction(db, (tx) => suppress(tx, address, { kind: 'unsubscribed', detail: null }));
}

/** A bounced address stays suppressed. */
async function resubscribe({ db }: Tools, { org_id: orgId, email }: Subscriber) {
  await inTransaction(db, async (tx) => {
    const suppression = await lockSuppression(tx, orgId, { unsubscribed: addressKey(email) });
    if (suppression) await end(tx, orgId, suppression, { lifted_by: null, consent: null });
  });
}

/** Members and keys cannot lift a person's own unsubscribe. */
export const isOwnUnsubscribe = ({ kind, by_hand }: Pick<Suppression, 'kind' | 'by_hand'>) =>
  kind === 'unsubscribed' && !by_hand;

export async function liftSuppression({ db }: Tools, writer: Writer, id: string) {
  await inTransaction(db, async (tx) => {
    const suppression = await lockSuppression(tx, writer.orgId, { id });
    if (!suppression) throw notFound('suppression');
    if (isOwnUnsubscribe(suppression)) {
      throw new Refusal(
        'forbidden',
        'this person unsubscribed: only they can undo it, or an owner who records their renewed consent in the app',
        { code: 'own_unsubscribe' },
      );
    }
    await end(tx, writer.orgId, suppression, { lifted_by: writer.actor.name, consent: null });
    const target = { kind: 'suppression', id };
    await recordAct(tx, { ...writer, act: 'suppression.removed', target });
  });
}

/** Lifts an unsubscribe after the person has agreed again. The timeline shows `consent`. */
export async function recordConsent(
  { db }: Tools,
  owner: Writer,
  { email, consent }: { email: string; consent: string },
) {
  await inTransaction(db, async (tx) => {
    const suppression = await lockSuppression(tx, owner.orgId, { unsubscribed: addressKey(email) });
    if (!suppression) throw notFound('suppression');
    await end(tx, owner.orgId, suppression, { lifted_by: owner.actor.name, consent });
    const target = { kind: 'suppression', id: suppression.id };
    await recordAct(tx, { ...owner, act: 'consent.recorded', target });
  });
}

/** Blocks an address until a member unblocks it. Idempotent. */
export async function suppressByHand({ db }: Tools, { orgId, actor }: Writer, email: string) {
  await inTransaction(db, async (tx) => {
    const address = { orgId, email: addressKey(email) };
    const reason = { kind: 'unsubscribed', by_hand: true, detail: null } as const;
    const isStored = await suppress(tx, address, reason);
    if (!isStored) throw addressErased();
    await recordAct(tx, { orgId, actor, act: 'suppression.added' });
  });
}

/** Returns false for an erased person: nothing is stored, because the hash already blocks the address. */
export async function suppress(
  tx: Sql,
  { orgId, email }: { orgId: string; email: string },
  reason: { kind: 'unsubscribed' | 'bounced'; by_hand?: boolean; detail: string | null },
): Promise<boolean> {
  await holdOffErasures(tx, orgId);
  if (await isErasedAddress(tx, orgId, email)) return false;
  const suppression = { email, ...reason };
  await insertSuppressions(tx, orgId, [suppression]);
  await markBlocked(tx, orgId, [suppression]);
  return true;
}

export async function suppressMany(
  tx: Sql,
  orgId: string,
  suppressions: readonly NewSuppression[],
) {
  const added = await insertSuppressions(tx, orgId, suppressions);
  await markBlocked(tx, orgId, added);
  return added;
}

async function end(
  tx: Sql,
  orgId: string,
  suppression: Suppression,
  by: { lifted_by: string | null; consent: string | null },
) {
  const { email } = suppression;
  await endSuppression(tx, orgId, suppression, by);
  const kinds = await listSuppressionKinds(tx, orgId, email);
  if (kinds.includes('unsubscribed')) return;
  await markUnblocked(tx, { orgId, email, bounced: kinds.includes('bounced') });
}

export type UnsubscribeProps = {
  state: 'ask' | 'unsubscribed' | 'resubscribed';
  language: Language;
  sender: Sender;
  email: string;
  /** URL that the button posts to. */
  action: string;
};

export function unsubscribePage(props: UnsubscribeProps): HtmlPage {
  const { state, language, sender, email, action } = props;
  const { unsubscribe, unsubscribed, resubscribed } = language.texts;
  const [{ title, text }, button] = {
    ask: [unsubscribe, unsubscribe.action] as const,
    unsubscribed: [unsubscribed, unsubscribed.undo] as const,
    resubscribed: [resubscribed, null] as const,
  }[state];
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
