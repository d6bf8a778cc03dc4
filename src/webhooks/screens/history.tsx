import { Hono } from 'hono';
import * as v from 'valibot';
import { notFound } from '../../errors.ts';
import { parsePage } from '../../lib/paging/page.ts';
import type { ScreenEnv } from '../../sessions/session.ts';
import { Secret } from '../../web/app/acts.tsx';
import { Breakable } from '../../web/app/marks.tsx';
import { renderScreen } from '../../web/app/screen.tsx';
import { takeOnce } from '../../web/app/shown-once.ts';
import { getWebhook } from '../manage.ts';
import type { WebhookTools } from '../routes.ts';
import {
  countByDay,
  findSecrets,
  findShownDelivery,
  listAttempts,
  pageOfDeliveries,
} from '../screen.queries.ts';
import { webhookTexts } from '../screen-texts.ts';
import { DeliveryList } from './deliveries.tsx';
import { deliveryStates, shortUrl } from './delivery.rules.ts';
import { DeliveryPage } from './delivery.tsx';
import { idOf, pathOf } from './paths.ts';
import { sentHeaders } from './sent-headers.ts';
import { Standing, WebhookActs } from './show.tsx';

const daysShown = 30;

const MadeSecret = v.object({
  webhook: v.string(),
  secret: v.string(),
  rotated: v.optional(v.boolean(), false),
});

/** One webhook with its deliveries, and one of these. */
export function historyScreens(tools: WebhookTools) {
  return new Hono<ScreenEnv>()
    .get('/:id', async (c) => {
      const { organization, member } = c.var;
      const orgId = organization.id;
      const id = idOf(c, 'id', 'webhook');
      const { page, limit } = parsePage(c.req.queries());
      const asked = c.req.query('status') ?? '';
      const status = Object.hasOwn(deliveryStates, asked) ? asked : null;
      const history = await readHistory(tools, { orgId, webhookId: id, page, limit, status });
      const { webhook, days, rows, total } = history;
      const here = pathOf(organization, id);
      const owner = { orgId, memberId: member.id };
      const made = v.safeParse(MadeSecret, takeOnce(c, tools.secrets, owner));
      const live = c.req.query('live') !== 'false';
      return renderScreen(c, {
        title: shortUrl(webhook.url),
        heading: <Breakable text={shortUrl(webhook.url)} />,
        section: 'webhooks',
        trail: [{ text: webhookTexts.title, href: pathOf(organization) }],
        actions: organization.role === 'viewer' ? null : <WebhookActs {...{ webhook, here }} />,
        body: (
          <>
            {made.success && made.output.webhook === id ? (
              <Secret
                title={webhookTexts.secretTitle}
                label="Secret"
                value={made.output.secret}
                done={here}
              >
                <p>{webhookTexts.secretOnce}</p>
                {made.output.rotated ? <p>{webhookTexts.secretRotated}</p> : null}
              </Secret>
            ) : null}
            <Standing {...{ webhook, days }} />
            <DeliveryList {...{ deliveries: rows, total, page, limit, status, here, live }} />
          </>
        ),
      });
    })

    .get('/:id/deliveries/:delivery', async (c) => {
      const { organization } = c.var;
      const orgId = organization.id;
      const webhook = await getWebhook(tools, orgId, idOf(c, 'id', 'webhook'));
      const deliveryId = idOf(c, 'delivery', 'delivery');
      const of = { orgId, webhookId: webhook.id };
      const [delivery, attempts, stored] = await Promise.all([
        findShownDelivery(tools.db, of, deliveryId),
        listAttempts(tools.db, of, deliveryId),
        findSecrets(tools.db, orgId, webhook.id),
      ]);
      if (!delivery || !stored) throw notFound('delivery');
      const here = pathOf(organization, webhook.id);
      const at = attempts.at(-1)?.at;
      const headers = at ? sentHeaders(tools, { delivery, at, stored, ...of }) : [];
      const { traceUrl } = tools.settings;
      const trace =
        traceUrl && delivery.trace_id ? traceUrl.replace('{trace_id}', delivery.trace_id) : null;
      return renderScreen(c, {
        title: delivery.event,
        section: 'webhooks',
        trail: [
          { text: webhookTexts.title, href: pathOf(organization) },
          { text: shortUrl(webhook.url), href: here },
        ],
        actions: (
          <>
            {trace ? (
              <a class="button" href={trace}>
                View trace
              </a>
            ) : null}
            {organization.role === 'viewer' || !webhook.active ? null : (
              <form method="post" action={`${here}/deliveries/${delivery.id}/redeliver`}>
                <button type="submit">{webhookTexts.redeliver}</button>
              </form>
            )}
          </>
        ),
        body: (
          <DeliveryPage
            {...{ delivery, attempts, headers }}
            url={webhook.url}
            responses={`/o/${organization.slug}/responses`}
          />
        ),
      });
    });
}

type AskedHistory = {
  orgId: string;
  webhookId: string;
  page: number;
  limit: number;
  status: string | null;
};

/** A webhook with a page of its deliveries, as every member sees it. */
async function readHistory(tools: WebhookTools, { orgId, webhookId, ...asked }: AskedHistory) {
  const of = { orgId, webhookId };
  const [webhook, days, deliveries] = await Promise.all([
    getWebhook(tools, orgId, webhookId),
    countByDay(tools.db, of, daysShown),
    pageOfDeliveries(tools.db, of, asked),
  ]);
  return { webhook, days, ...deliveries };
}
