import { type Context, Hono } from 'hono';
import { notFound } from '../errors.ts';
import type { Db } from '../lib/db/db.ts';
import { linkTrace } from '../lib/http/request-spans.ts';
import { logoPath } from '../organizations/logo.rules.ts';
import { languageFor } from '../surveys/texts.ts';
import { languageOf } from '../web/language.ts';
import { showPage } from '../web/show.ts';
import { wantsJson } from '../web/wants-json.ts';
import { findSubscriber, type Subscriber } from './queries.ts';
import { resubscribe, unsubscribe } from './unsubscribe.ts';
import { type UnsubscribeProps, unsubscribePage } from './unsubscribe-page.tsx';

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
