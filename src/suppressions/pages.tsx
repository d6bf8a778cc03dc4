import { type Context, Hono } from 'hono';
import { notFound } from '../errors.ts';
import type { Db } from '../lib/db/db.ts';
import { linkTrace } from '../lib/http/request-spans.ts';
import { logoPath } from '../organizations/logo.ts';
import { shareIdOfTest } from '../surveys/lifecycle.ts';
import { languageFor } from '../surveys/texts.ts';
import { wantsJson } from '../web/headers.ts';
import { isolate, type Language, languageOf } from '../web/language.ts';
import { type HtmlPage, oneLine, renderPage, type Sender } from '../web/layout.tsx';
import { showPage } from '../web/show.ts';
import { findSubscriber, findTestSubscriber, type Subscriber } from './queries.ts';
import { resubscribe, unsubscribe } from './suppress.ts';

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
