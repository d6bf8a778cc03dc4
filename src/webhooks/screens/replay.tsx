import { type Context, Hono } from 'hono';
import * as v from 'valibot';
import { notFound } from '../../errors.ts';
import { parsePage } from '../../lib/paging/page.ts';
import { idParam, isInCalendar } from '../../lib/validation/parse.ts';
import { requireRole, type ScreenEnv } from '../../sessions/session.ts';
import { Breakable, Confirm, Mistakes, Secret } from '../../web/app/badges.tsx';
import { redirectWith, takeOnce } from '../../web/app/flash.ts';
import { emptyForm, Field, type FormState, readForm } from '../../web/app/forms.tsx';
import { renderScreen } from '../../web/app/screen.tsx';
import type { WebhookTools } from '../api.ts';
import { getWebhook } from '../manage.ts';
import { replay } from '../replay.ts';
import {
  countByDay,
  countReplayable,
  findSecrets,
  findShownDelivery,
  listAttempts,
  pageOfDeliveries,
} from '../screen.queries.ts';
import { webhookTexts } from '../screen-texts.ts';
import { DeliveryPage, deliveryStates, sentHeaders, shortUrl } from './delivery.tsx';
import { pathOf } from './paths.ts';
import { DeliveryList, Standing, WebhookActs } from './webhook.tsx';

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
      const id = idParam(c, 'webhook');
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
      const webhook = await getWebhook(tools, orgId, idParam(c, 'webhook'));
      const deliveryId = idParam(c, 'delivery', 'delivery');
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

/** A replay of more than this is asked for twice. */
const mostAtOnce = 100;
const daysBefore = 7;
const dayMs = 86_400_000;

const Day = v.pipe(
  v.string(),
  v.regex(/^\d{4}-\d{2}-\d{2}$/, 'Must be a day'),
  v.check(isInCalendar, 'There is no such day'),
);

const ReplayForm = v.object({ since: Day, confirmed: v.optional(v.string()) });

/** Delivering missed events again: how many there are is said before anything happens. */
export const replayScreens = (tools: WebhookTools) =>
  new Hono<ScreenEnv>()
    .get('/:id/replay', async (c) => {
      const { orgId } = requireRole(c, 'editor');
      const webhook = await getWebhook(tools, orgId, idParam(c, 'webhook'));
      const asked = c.req.query('since') ?? dayBefore(webhook.deactivated_at ?? new Date());
      const since = v.is(Day, asked) ? asked : undefined;
      const form = since ? emptyForm() : { errors: { since: 'Must be a day.' }, typed: {} };
      const count =
        since === undefined
          ? 0
          : await countReplayable(tools.db, { orgId, webhookId: webhook.id }, new Date(since));
      const confirms = c.req.query('confirm') === 'true' && count > 0;
      return showReplay(c, { webhook, since: since ?? asked, count, form, confirms });
    })

    .post('/:id/replay', async (c) => {
      const editor = requireRole(c, 'editor');
      const webhook = await getWebhook(tools, editor.orgId, idParam(c, 'webhook'));
      const here = pathOf(c.var.organization, webhook.id);
      const form = await readForm(c, ReplayForm);
      if (form.errors) {
        const since = String(form.typed['since'] ?? '');
        return showReplay(c, { webhook, since, count: 0, form, confirms: false });
      }
      const { since, confirmed } = form.values;
      const of = { orgId: editor.orgId, webhookId: webhook.id };
      const count = await countReplayable(tools.db, of, new Date(since));
      if (count > mostAtOnce && !confirmed) {
        return c.redirect(`${here}/replay?since=${since}&confirm=true`, 303);
      }
      const traceparent = c.get('traceparent') ?? null;
      const request = { webhookId: webhook.id, since: new Date(since), traceparent };
      const { replayed } = await replay(tools, editor, request);
      return redirectWith(c, here, webhookTexts.replayed(replayed));
    });

type ReplayShown = {
  webhook: { id: string; url: string; active: boolean };
  since: string;
  count: number;
  form: FormState;
  confirms: boolean;
};

function showReplay(c: Context<ScreenEnv>, shown: ReplayShown) {
  const { webhook, form } = shown;
  const { organization } = c.var;
  const here = pathOf(organization, webhook.id);
  return renderScreen(c, {
    title: webhookTexts.replayTitle,
    section: 'webhooks',
    trail: [
      { text: webhookTexts.title, href: pathOf(organization) },
      { text: shortUrl(webhook.url), href: here },
    ],
    status: Object.keys(form.errors).length > 0 ? 422 : 200,
    body: shown.confirms ? <Second {...shown} here={here} /> : <First {...shown} here={here} />,
  });
}

function First({ webhook, since, count, form, here }: ReplayShown & { here: string }) {
  return (
    <>
      <form method="get" action={`${here}/replay`} class="fields measure">
        <Mistakes form={form} />
        <Field
          name="since"
          label="Since"
          type="date"
          form={form}
          value={since}
          help={webhookTexts.replayHelp}
        />
        <div class="actions">
          <button type="submit">Show how many</button>
        </div>
      </form>
      <p role="status">{webhookTexts.replayForetold(count, since, webhook.active)}</p>
      {webhook.active ? null : (
        <>
          <p class="is-warning state">{webhookTexts.replayInactive}</p>
          <p>
            <a href={here}>{webhookTexts.backToWebhook}</a>
          </p>
        </>
      )}
      {webhook.active && count > 0 ? (
        <form method="post" action={`${here}/replay`} class="actions">
          <input type="hidden" name="since" value={since} />
          <button type="submit" class="primary">
            {webhookTexts.replay}
          </button>
          <a class="more" href={here}>
            Cancel
          </a>
        </form>
      ) : null}
    </>
  );
}

function Second({ since, count, here }: ReplayShown & { here: string }) {
  return (
    <Confirm
      action={`${here}/replay`}
      button={webhookTexts.replay}
      cancel={here}
      hidden={{ since, confirmed: 'true' }}
    >
      <p>{webhookTexts.replayForetold(count, since, true)}</p>
      <p>A receiver that does not drop repeats by their webhook-id handles these events again.</p>
    </Confirm>
  );
}

const dayBefore = (at: Date): string =>
  new Date(at.getTime() - daysBefore * dayMs).toISOString().slice(0, 10);
