import { type Context, Hono } from 'hono';
import type { Child } from 'hono/jsx';
import { idParam } from '../../lib/validation/parse.ts';
import { requireRecentProof, requireRole, type ScreenEnv } from '../../sessions/session.ts';
import { Breakable, Confirm, Mistakes, State, Time } from '../../web/app/badges.tsx';
import { flash, keepOnce, redirectWith } from '../../web/app/flash.ts';
import { Choice, Field, type FormState } from '../../web/app/forms.tsx';
import { counted, DataTable, EmptyState } from '../../web/app/lists.tsx';
import { renderScreen } from '../../web/app/screen.tsx';
import type { WebhookTools } from '../api.ts';
import { eventTypes, testWebhook } from '../events.ts';
import { changeWebhook, getWebhook, removeWebhook, renewSecret } from '../manage.ts';
import type { WebhookRow } from '../queries.ts';
import { redeliver } from '../replay.ts';
import { retryKinds } from '../rules.ts';
import { webhookTexts } from '../screen-texts.ts';
import { resultOf, shortUrl, standingOf } from './delivery.tsx';
import { pathOf } from './paths.ts';
import { replayScreens } from './replay.tsx';

type WebhookListProps = { webhooks: readonly WebhookRow[]; here: string; mayChange: boolean };

export function WebhookList({ webhooks, here, mayChange }: WebhookListProps) {
  if (webhooks.length === 0) {
    return (
      <EmptyState title={webhookTexts.none}>
        <p>{webhookTexts.noneMeans}</p>
        {mayChange ? null : <p class="small soft">An editor or owner can make one.</p>}
      </EmptyState>
    );
  }
  return (
    <>
      <p class="small soft">
        {counted(webhooks.length, 'webhook')}. {webhookTexts.about}
      </p>
      <DataTable
        caption="Webhooks, newest first"
        columns={[
          { head: 'Address' },
          { head: 'State' },
          { head: 'Events' },
          { head: 'Last delivery' },
        ]}
        rows={webhooks.map((webhook) => ({ cells: cellsOf(webhook, here) }))}
      />
    </>
  );
}

function cellsOf(webhook: WebhookRow, here: string) {
  const { kind, text } = standingOf(webhook);
  return [
    <>
      <a href={`${here}/${webhook.id}`}>
        <Breakable text={shortUrl(webhook.url)} />
      </a>
      {webhook.description ? (
        <span class="small soft block">
          <bdi>{webhook.description}</bdi>
        </span>
      ) : null}
    </>,
    <>
      <State kind={kind}>{text}</State>
      {webhook.deactivated_reason ? (
        <span class="small soft block">{webhook.deactivated_reason}</span>
      ) : null}
    </>,
    webhook.events.join(', '),
    webhook.last_delivery_at ? <Time at={webhook.last_delivery_at} show="ago" /> : 'none yet',
  ];
}

type WebhookFormProps = {
  form: FormState;
  action: string;
  cancel: string;
  button: string;
  /** What is changed; without one it is made. */
  webhook?: WebhookRow;
};

export function WebhookForm({ form, action, cancel, button, webhook }: WebhookFormProps) {
  return (
    <form method="post" action={action} class="fields measure">
      <Mistakes form={form} />
      <Field
        name="url"
        label="URL"
        type="url"
        form={form}
        value={webhook?.url}
        help={webhookTexts.urlHelp}
        maxlength={2000}
        autocomplete="off"
        required
      />
      <Choice
        name="events"
        label="Events"
        form={form}
        value={webhook?.events ?? eventTypes.map(({ type }) => type)}
        several
        options={eventTypes.map(({ type }) => ({
          value: type,
          text: type,
          help: webhookTexts.eventMeans[type],
        }))}
      />
      <Field
        name="description"
        label="Description"
        form={form}
        value={webhook?.description}
        help={webhookTexts.descriptionHelp}
        maxlength={500}
        autocomplete="off"
      />
      <Choice
        name="retries"
        label="Retries"
        form={form}
        value={webhook?.retries ?? 'standard'}
        options={retryKinds.map((value) => ({ value, ...webhookTexts.retries[value] }))}
      />
      <div class="actions">
        <button type="submit" class="primary">
          {button}
        </button>
        <a class="more" href={cancel}>
          Cancel
        </a>
      </div>
    </form>
  );
}

/** What an editor does with one webhook. */
export const webhookActs = (tools: WebhookTools) =>
  new Hono<ScreenEnv>()
    .post('/:id/test', async (c) => {
      const editor = requireRole(c, 'editor');
      const id = idParam(c, 'webhook');
      const traceparent = c.get('traceparent') ?? null;
      const tested = await testWebhook(tools, editor, { id, traceparent });
      const text = tested.delivered
        ? webhookTexts.tested(tested.duration_ms, tested.status_code)
        : webhookTexts.testFailed(resultOf(tested));
      flash(c, { kind: tested.delivered ? 'fine' : 'failed', text });
      return c.redirect(pathOf(c.var.organization, id), 303);
    })

    .post('/:id/switch-off', (c) => switchTo(c, tools, false))
    .post('/:id/switch-on', (c) => switchTo(c, tools, true))

    .get('/:id/rotate-secret', (c) => {
      requireRole(c, 'editor');
      requireRecentProof(c);
      return confirmAct(c, tools, {
        path: 'rotate-secret',
        title: () => webhookTexts.rotateTitle,
        means: webhookTexts.rotateMeans,
        button: webhookTexts.rotate,
      });
    })
    .post('/:id/rotate-secret', async (c) => {
      const editor = requireRole(c, 'editor');
      requireRecentProof(c);
      const id = idParam(c, 'webhook');
      const { secret } = await renewSecret(tools, editor, id);
      keepOnce(c, tools.secrets, editor, { webhook: id, secret, rotated: true });
      return c.redirect(pathOf(c.var.organization, id), 303);
    })

    .get('/:id/delete', (c) =>
      confirmAct(c, tools, {
        path: 'delete',
        title: webhookTexts.removeTitle,
        means: webhookTexts.removeMeans,
        button: webhookTexts.remove,
      }),
    )
    .post('/:id/delete', async (c) => {
      const editor = requireRole(c, 'editor');
      await removeWebhook(tools, editor, idParam(c, 'webhook'));
      return redirectWith(c, pathOf(c.var.organization), webhookTexts.removed);
    })

    .post('/:id/deliveries/:delivery/redeliver', async (c) => {
      const editor = requireRole(c, 'editor');
      const webhookId = idParam(c, 'webhook');
      const deliveryId = idParam(c, 'delivery', 'delivery');
      const traceparent = c.get('traceparent') ?? null;
      await redeliver(tools, editor, { webhookId, deliveryId, traceparent });
      return redirectWith(c, pathOf(c.var.organization, webhookId), webhookTexts.redelivered);
    })

    .route('/', replayScreens(tools));

async function switchTo(c: Context<ScreenEnv>, tools: WebhookTools, active: boolean) {
  const editor = requireRole(c, 'editor');
  const id = idParam(c, 'webhook');
  await changeWebhook(tools, editor, { id, active });
  return redirectWith(
    c,
    pathOf(c.var.organization, id),
    active ? webhookTexts.switchedOn : webhookTexts.switchedOff,
  );
}

type ConfirmedAct = {
  path: string;
  title: (host: string) => string;
  means: Child;
  button: string;
};

async function confirmAct(c: Context<ScreenEnv>, tools: WebhookTools, act: ConfirmedAct) {
  const { orgId } = requireRole(c, 'editor');
  const webhook = await getWebhook(tools, orgId, idParam(c, 'webhook'));
  const here = pathOf(c.var.organization, webhook.id);
  const name = shortUrl(webhook.url);
  return renderScreen(c, {
    title: act.title(name),
    section: 'webhooks',
    trail: [
      { text: webhookTexts.title, href: pathOf(c.var.organization) },
      { text: name, href: here },
    ],
    body: (
      <Confirm action={`${here}/${act.path}`} button={act.button} cancel={here}>
        <p>{act.means}</p>
      </Confirm>
    ),
  });
}
