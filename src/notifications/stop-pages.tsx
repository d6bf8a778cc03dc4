import { type Context, Hono } from 'hono';
import { notFound } from '../errors.ts';
import type { Secrets } from '../lib/crypto/secrets.ts';
import type { Db } from '../lib/db/db.ts';
import type { RequestEnv } from '../lib/http/http.ts';
import { renderAlone } from '../web/app/screen.tsx';
import { stopNotification } from './choose.ts';
import { findStop } from './queries.ts';
import { notificationTexts, stopTexts as texts } from './screen-texts.ts';
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
          <p>{texts.about(what, found.organization, found.email)}</p>
          <div class="actions">
            <button type="submit" class="primary">
              {texts.action}
            </button>
          </div>
        </form>
      );
      return renderAlone(c, { title: texts.title, body });
    })

    .post('/notifications/stop/:token', async (c) => {
      const { wish, what, found } = await readStop(tools, c);
      await stopNotification(tools.db, wish, found.name);
      return showStopped(c, what, found.organization);
    });

const showStopped = (c: Context, what: string, organization: string) =>
  renderAlone(c, { title: texts.title, body: <p>{texts.stopped(what, organization)}</p> });

async function readStop({ db, secrets }: StopTools, c: Context) {
  const wish = readStopToken(secrets, c.req.param('token') ?? '');
  const found = wish && (await findStop(db, wish));
  if (!found) throw notFound('link');
  const { kind } = wish;
  const what = kind === 'digest' ? notificationTexts.digest : notificationTexts.kinds[kind];
  const wanted = kind === 'digest' ? found.digest !== 'none' : found.events.includes(kind);
  return { wish, wanted, what, found };
}
