import { type Context, Hono } from 'hono';
import { notFound } from '../errors.ts';
import type { Secrets } from '../lib/crypto/secrets.ts';
import type { Db } from '../lib/db/db.ts';
import type { RequestEnv } from '../lib/http/http.ts';
import { renderAlone } from '../web/app/screen.tsx';
import { stopNotification } from './choose.ts';
import { findStop } from './queries.ts';
import { notificationNames } from './slack-part.tsx';
import { readStopToken } from './stop-link.ts';

type StopTools = { db: Db; secrets: Pick<Secrets, 'open'> };

/** Where the link in a notification leads that stops its kind. Opening it changes nothing; its button does. */
export const stopPages = (tools: StopTools) =>
  new Hono<RequestEnv>()
    .get('/notifications/stop/:token', async (c) => {
      const { wanted, what, found } = await readStop(tools, c);
      if (!wanted) return showStopped(c, what, found.organization);
      const body = (
        <form method="post" class="fields">
          <p>
            “{what}”: no more of these mails about {found.organization} go to {found.email}.
          </p>
          <div class="actions">
            <button type="submit" class="primary">
              Stop these mails
            </button>
          </div>
        </form>
      );
      return renderAlone(c, { title: 'Stop notifications', body });
    })

    .post('/notifications/stop/:token', async (c) => {
      const { wish, what, found } = await readStop(tools, c);
      await stopNotification(tools.db, wish, found.name);
      return showStopped(c, what, found.organization);
    });

const showStopped = (c: Context, what: string, organization: string) =>
  renderAlone(c, {
    title: 'Stop notifications',
    body: (
      <p>
        “{what}” is stopped for {organization}. Settings, Notifications switches it on again.
      </p>
    ),
  });

async function readStop({ db, secrets }: StopTools, c: Context) {
  const wish = readStopToken(secrets, c.req.param('token') ?? '');
  const found = wish && (await findStop(db, wish));
  if (!found) throw notFound('link');
  const { kind } = wish;
  const what = kind === 'digest' ? 'Digest' : notificationNames[kind];
  const wanted = kind === 'digest' ? found.digest !== 'none' : found.events.includes(kind);
  return { wish, wanted, what, found };
}
