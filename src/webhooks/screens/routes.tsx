import { type Context, Hono } from 'hono';
import * as v from 'valibot';
import { notFound } from '../../errors.ts';
import { parsePage } from '../../lib/paging/page.ts';
import { idParam } from '../../lib/validation/parse.ts';
import { requireRecentProof, requireRole, type ScreenEnv } from '../../sessions/session.ts';
import { Breakable, Confirm, Secret } from '../../web/app/badges.tsx';
import { redirectWith, setOneTimeSecret, takeOneTimeSecret } from '../../web/app/flash.ts';
import {
  Day,
  emptyForm,
  type FormState,
  LinkButton,
  listField,
  optionalText,
  readForm,
  readVersion,
  type StoredForm,
  tryAction,
} from '../../web/app/forms.tsx';
import { counted } from '../../web/app/lists.tsx';
import { renderScreen, type Screen } from '../../web/app/screen.tsx';
import type { WebhookTools } from '../api.ts';
import { eventTypes } from '../events.ts';
import {
  changeWebhook,
  createWebhook,
  NewWebhook,
  removeWebhook,
  renewSecret,
  testWebhook,
  versionOfWebhook,
} from '../manage.ts';
import { findTarget, getWebhook, listWebhooks, type WebhookRow } from '../queries.ts';
import { countReplayable, redeliver, replay } from '../replay.ts';
import {
  countByDay,
  countDelivered,
  findShownDelivery,
  listAttempts,
  pageOfDeliveries,
} from '../shown-deliveries.queries.ts';
import {
  DeliveryPage,
  deliveryStates,
  duration,
  resultOf,
  sentHeaders,
  shortUrl,
} from './delivery.tsx';
import { ConfirmReplay, ReplayPage, WebhookForm, WebhookList } from './forms.tsx';
import { DeliveryList, Standing, WebhookActs } from './webhook.tsx';

const types = eventTypes.map(({ type }) => type);

const WebhookFields = v.object({
  url: v.pipe(v.string(), v.trim(), NewWebhook.entries.url),
  events: v.pipe(
    listField(v.picklist(types, 'Unknown event')),
    v.minLength(1, 'Choose at least one event'),
  ),
  description: optionalText(v.pipe(v.string(), NewWebhook.entries.description.wrapped.wrapped)),
  retries: NewWebhook.entries.retries,
});

const NewSecret = v.object({ webhook: v.string(), secret: v.string() });

const ReplayForm = v.object({ since: Day, confirmed: v.optional(v.string()) });

const daysShown = 30;
const maxUnconfirmed = 100;
const dayMs = 86_400_000;

export const webhookScreens = (tools: WebhookTools) =>
  new Hono<ScreenEnv>()
    .get('/', async (c) => {
      const { organization } = c.var;
      const [webhooks, shares] = await Promise.all([
        listWebhooks(tools.db, organization.id),
        countDelivered(tools.db, organization.id, daysShown),
      ]);
      const mayChange = organization.role !== 'viewer';
      const here = pathOf(c);
      return renderScreen(c, {
        title: 'Webhooks',
        section: 'webhooks',
        body: <WebhookList webhooks={webhooks} shares={shares} here={here} mayChange={mayChange} />,
        actions: mayChange ? (
          <LinkButton href={`${here}/new`} text="New webhook" kind="primary" />
        ) : null,
      });
    })

    .get('/new', (c) => {
      requireRole(c, 'editor');
      return showForm(c, emptyForm());
    })

    .post('/', async (c) => {
      const editor = requireRole(c, 'editor');
      const form = await readForm(c, WebhookFields);
      if (form.errors) return showForm(c, form);
      const webhook = await tryAction(c, fieldOfCode, () =>
        createWebhook(tools, editor, form.values),
      );
      if ('errors' in webhook) return showForm(c, webhook);
      setOneTimeSecret(c, tools.secrets, editor, { webhook: webhook.id, secret: webhook.secret });
      return c.redirect(pathOf(c, webhook.id), 303);
    })

    .get('/:id/edit', async (c) => {
      requireRole(c, 'editor');
      return showForm(c, emptyForm(), await webhookOf(c, tools));
    })

    .post('/:id/edit', async (c) => {
      const editor = requireRole(c, 'editor');
      const webhook = await webhookOf(c, tools);
      const form = await readForm(c, WebhookFields);
      if (form.errors) return showForm(c, form, webhook);
      const { id } = webhook;
      const ifMatch = await readVersion(c);
      const changed = await tryAction(
        c,
        fieldOfCode,
        () => changeWebhook(tools, editor, { id, ...form.values, ifMatch }),
        storedWebhook(webhook),
      );
      if ('errors' in changed) return showForm(c, changed, webhook);
      return back(c, id, 'Webhook saved.');
    })

    .post('/:id/test', async (c) => {
      const editor = requireRole(c, 'editor');
      const id = idOf(c);
      const traceparent = c.get('traceparent') ?? null;
      const tested = await testWebhook(tools, editor, { id, traceparent });
      if (!tested.delivered) {
        return back(c, id, `Test event failed: ${resultOf(tested)}.`, 'failed');
      }
      const took = duration(tested.duration_ms);
      return back(c, id, `Test event delivered in ${took} (status ${tested.status_code}).`);
    })

    .post('/:id/switch-off', async (c) => {
      await changeWebhook(tools, requireRole(c, 'editor'), { id: idOf(c), active: false });
      const text = 'Webhook turned off. Its events are skipped, and you can replay them later.';
      return back(c, idOf(c), text);
    })

    .post('/:id/switch-on', async (c) => {
      await changeWebhook(tools, requireRole(c, 'editor'), { id: idOf(c), active: true });
      return back(c, idOf(c), 'Webhook turned on.');
    })

    .get('/:id/rotate-secret', async (c) => {
      requireRole(c, 'editor');
      requireRecentProof(c);
      const webhook = await webhookOf(c, tools);
      const here = pathOf(c, webhook.id);
      const body = (
        <Confirm action={`${here}/rotate-secret`} button="Rotate secret" cancel={here}>
          <p>
            This creates a new secret, which is shown once. For 24 hours, the webhook-signature
            header has signatures with both secrets. The other signature header uses the new secret
            at once, so receivers that verify it need the new one immediately.
          </p>
        </Confirm>
      );
      return renderBelow(c, webhook, { title: 'Rotate the signing secret', body });
    })

    .post('/:id/rotate-secret', async (c) => {
      const editor = requireRole(c, 'editor');
      requireRecentProof(c);
      const { id, secret } = await renewSecret(tools, editor, idOf(c));
      setOneTimeSecret(c, tools.secrets, editor, { webhook: id, secret });
      return c.redirect(pathOf(c, id), 303);
    })

    .get('/:id/delete', async (c) => {
      requireRole(c, 'editor');
      const webhook = await webhookOf(c, tools);
      const title = `Delete webhook ${shortUrl(webhook.url)}`;
      const here = pathOf(c, webhook.id);
      const body = (
        <Confirm action={`${here}/delete`} button="Delete" cancel={here}>
          <p>
            This stops deliveries to this URL and deletes its delivery history. Skipped and failed
            events can no longer be replayed.
          </p>
        </Confirm>
      );
      return renderBelow(c, webhook, { title, body });
    })

    .post('/:id/delete', async (c) => {
      await removeWebhook(tools, requireRole(c, 'editor'), idOf(c));
      return back(c, undefined, 'Webhook deleted.');
    })

    .get('/:id/replay', async (c) => {
      requireRole(c, 'editor');
      return await showReplay(c, tools);
    })

    .post('/:id/replay', async (c) => {
      const editor = requireRole(c, 'editor');
      const form = await readForm(c, ReplayForm);
      if (form.errors) return await showReplay(c, tools, form);
      const { since: day, confirmed } = form.values;
      const webhookId = idOf(c);
      const since = new Date(day);
      const missed = { orgId: editor.orgId, webhookId, since };
      if (!confirmed && (await countReplayable(tools.db, missed)) > maxUnconfirmed) {
        return c.redirect(`${pathOf(c, webhookId)}/replay?since=${day}&confirm=true`, 303);
      }
      const traceparent = c.get('traceparent') ?? null;
      const { replayed } = await replay(tools, editor, { webhookId, since, traceparent });
      if (replayed === 0) return back(c, webhookId, 'No events were skipped or failed since then.');
      return back(c, webhookId, `Replaying ${counted(replayed, 'event')}.`);
    })

    .post('/:id/deliveries/:delivery/redeliver', async (c) => {
      const editor = requireRole(c, 'editor');
      const webhookId = idOf(c);
      const deliveryId = idParam(c, 'delivery', 'delivery');
      const traceparent = c.get('traceparent') ?? null;
      await redeliver(tools, editor, { webhookId, deliveryId, traceparent });
      return back(c, webhookId, 'Redelivering the event as a new delivery.');
    })

    .get('/:id', (c) => showWebhook(c, tools))

    .get('/:id/deliveries/:delivery', (c) => showDelivery(c, tools));

const idOf = (c: Context) => idParam(c, 'webhook');

const webhookOf = (c: Context<ScreenEnv>, tools: WebhookTools) =>
  getWebhook(tools, c.var.organization.id, idOf(c));

function pathOf(c: Context<ScreenEnv>, webhookId?: string) {
  const list = `/o/${c.var.organization.slug}/webhooks`;
  return webhookId ? `${list}/${webhookId}` : list;
}

const back = (c: Context<ScreenEnv>, id: string | undefined, text: string, kind?: 'failed') =>
  redirectWith(c, pathOf(c, id), text, kind);

const storedWebhook = (webhook: WebhookRow): StoredForm => {
  const { url, events, description, retries } = webhook;
  return { version: versionOfWebhook(webhook), fields: { url, events, description, retries } };
};

const fieldOfCode = { forbidden_url: 'url', too_many_webhooks: '' };

function showForm(c: Context<ScreenEnv>, form: FormState, webhook?: WebhookRow) {
  const here = pathOf(c, webhook?.id);
  return renderBelow(c, webhook, {
    title: webhook ? `Edit ${shortUrl(webhook.url)}` : 'New webhook',
    form,
    body: <WebhookForm form={form} here={here} webhook={webhook} />,
  });
}

function renderBelow(
  c: Context<ScreenEnv>,
  webhook: WebhookRow | undefined,
  screen: Pick<Screen, 'title' | 'body' | 'form' | 'actions'>,
) {
  const trail = [{ text: 'Webhooks', href: pathOf(c) }];
  if (webhook) trail.push({ text: shortUrl(webhook.url), href: pathOf(c, webhook.id) });
  return renderScreen(c, { ...screen, section: 'webhooks', trail });
}

async function showReplay(c: Context<ScreenEnv>, tools: WebhookTools, form = emptyForm()) {
  const webhook = await webhookOf(c, tools);
  const { id: webhookId, active } = webhook;
  const here = pathOf(c, webhookId);
  const weekBefore = (webhook.deactivated_at ?? new Date()).getTime() - 7 * dayMs;
  const asked = v.safeParse(Day, c.req.query('since'));
  const since = asked.success ? asked.output : new Date(weekBefore).toISOString().slice(0, 10);
  const missed = { orgId: c.var.organization.id, webhookId, since: new Date(since) };
  const confirms = c.req.query('confirm') === 'true';
  const count = confirms ? await countReplayable(tools.db, missed) : 0;
  return renderBelow(c, webhook, {
    title: 'Replay missed events',
    body:
      active && count > 0 ? (
        <ConfirmReplay since={since} count={count} here={here} />
      ) : (
        <ReplayPage active={active} since={since} form={form} here={here} />
      ),
    form,
  });
}

async function showWebhook(c: Context<ScreenEnv>, tools: WebhookTools) {
  const { organization, member } = c.var;
  const of = { orgId: organization.id, webhookId: idOf(c) };
  const { page, limit } = parsePage(c.req.queries());
  const filter = c.req.query('status') ?? '';
  const status = Object.hasOwn(deliveryStates, filter) ? filter : null;
  const [webhook, days, { rows, total }] = await Promise.all([
    getWebhook(tools, of.orgId, of.webhookId),
    countByDay(tools.db, of, daysShown),
    pageOfDeliveries(tools.db, of, { page, limit, status }),
  ]);
  const here = pathOf(c, webhook.id);
  const owner = { orgId: organization.id, memberId: member.id };
  const made = v.safeParse(NewSecret, takeOneTimeSecret(c, tools.secrets, owner));
  return renderScreen(c, {
    title: shortUrl(webhook.url),
    heading: <Breakable text={shortUrl(webhook.url)} />,
    section: 'webhooks',
    trail: [{ text: 'Webhooks', href: pathOf(c) }],
    actions: organization.role === 'viewer' ? null : <WebhookActs webhook={webhook} here={here} />,
    body: (
      <>
        {made.success && made.output.webhook === webhook.id ? (
          <Secret
            title="Copy the signing secret now"
            label="Secret"
            value={made.output.secret}
            done={here}
          >
            <p>
              You won’t be able to see it again. Receivers use it to verify the signature of
              deliveries.
            </p>
          </Secret>
        ) : null}
        <Standing webhook={webhook} days={days} />
        <DeliveryList
          deliveries={rows}
          total={total}
          page={page}
          limit={limit}
          status={status}
          here={here}
          live={c.req.query('live') !== 'false'}
        />
      </>
    ),
  });
}

async function showDelivery(c: Context<ScreenEnv>, tools: WebhookTools) {
  const { organization } = c.var;
  const webhook = await webhookOf(c, tools);
  const deliveryId = idParam(c, 'delivery', 'delivery');
  const of = { orgId: organization.id, webhookId: webhook.id };
  const [delivery, attempts, target] = await Promise.all([
    findShownDelivery(tools.db, of, deliveryId),
    listAttempts(tools.db, of, deliveryId),
    findTarget(tools.db, organization.id, webhook.id),
  ]);
  if (!delivery || !target) throw notFound('delivery');
  const here = pathOf(c, webhook.id);
  const at = attempts.at(-1)?.at;
  const headers = at ? sentHeaders(tools, { delivery, at, target, ...of }) : [];
  const { traceUrl } = tools.settings;
  return renderBelow(c, webhook, {
    title: delivery.event,
    actions: (
      <>
        {traceUrl && delivery.trace_id ? (
          <LinkButton href={traceUrl.replace('{trace_id}', delivery.trace_id)} text="View trace" />
        ) : null}
        {organization.role === 'viewer' || !webhook.active ? null : (
          <form method="post" action={`${here}/deliveries/${delivery.id}/redeliver`}>
            <button type="submit">Redeliver</button>
          </form>
        )}
      </>
    ),
    body: (
      <DeliveryPage
        delivery={delivery}
        attempts={attempts}
        headers={headers}
        url={webhook.url}
        responses={`/o/${organization.slug}/responses`}
      />
    ),
  });
}
