import { Hono, type MiddlewareHandler } from 'hono';
import { Refusal } from '../errors.ts';
import { countSubject } from '../keys/queries.ts';
import type { Secrets } from '../lib/crypto/secrets.ts';
import { type Db, inTransaction } from '../lib/db/db.ts';
import { clientAddress } from '../lib/http/client-address.ts';
import type { RequestEnv } from '../lib/http/http.ts';
import { findCredentials } from '../members/queries.ts';
import { type SessionTools, startSession } from '../sessions/session.ts';
import { Submit } from '../web/app/forms.tsx';
import { renderStandalone } from '../web/app/screen.tsx';
import { refillDemo, visitorEmail } from './fill.ts';

const signInPath = '/demo';
const maxSignInsPerMinute = 20;
const dayMs = 86_400_000;

/** Everybody may read a public demo. Visitors can write nothing but their session. */
export const publicDemoRoutes = (tools: SessionTools): Hono<RequestEnv> =>
  new Hono<RequestEnv>()
    .use(refuseWrites)
    .get('/sign-in', (c) =>
      renderStandalone(c, {
        title: 'Public demo',
        body: (
          <form method="post" action={signInPath} class="fields">
            <p class="soft">
              Explore a coffee roaster’s year of feedback. You can open everything but change
              nothing. The demo is reset every day.
            </p>
            <Submit>Explore the demo</Submit>
          </form>
        ),
      }),
    )
    .post(signInPath, async (c) => {
      const { db, publicUrl } = tools;
      const { used, resets_in_seconds } = await countSubject(db, `demo ${clientAddress(c)}`);
      if (used > maxSignInsPerMinute) {
        throw new Refusal('rate_limited', 'too many visits from your network', {
          retryInSeconds: resets_in_seconds,
        });
      }
      const visitor = await findCredentials(db, visitorEmail);
      if (!visitor) throw new Refusal('unavailable', 'the demo is being filled: try again soon');
      await inTransaction(db, (tx) => startSession(tx, c, { publicUrl, memberId: visitor.id }));
      return c.redirect('/', 303);
    });

const refuseWrites: MiddlewareHandler = async (c, next) => {
  const { method, path } = c.req;
  const isRead = ['GET', 'HEAD', 'OPTIONS'].includes(method);
  if (!isRead && path !== signInPath && path !== '/sign-out') {
    if (!path.startsWith('/api/')) c.set('isApp', true);
    throw new Refusal(
      'forbidden',
      'This is a public demo: you can read everything, but nothing can be changed. Install askback to try it with your own data.',
    );
  }
  await next();
};

/** Fills the demo now and every day. Returns a function that stops the timer. */
export async function keepPublicDemo(
  tools: { db: Db; secrets: Secrets },
  onError: (error: unknown) => void,
): Promise<() => void> {
  await refillDemo(tools, new Date());
  const timer = setInterval(() => {
    refillDemo(tools, new Date()).catch(onError);
  }, dayMs);
  return () => clearInterval(timer);
}
