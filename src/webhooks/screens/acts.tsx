import { type Context, Hono } from 'hono';
import type { Child } from 'hono/jsx';
import { requireRecentProof, requireRole, type ScreenEnv } from '../../sessions/session.ts';
import { Confirm } from '../../web/app/acts.tsx';
import { flash } from '../../web/app/flash.ts';
import { renderScreen } from '../../web/app/screen.tsx';
import { keepOnce } from '../../web/app/shown-once.ts';
import { changeWebhook, getWebhook, removeWebhook, renewSecret } from '../manage.ts';
import { redeliver } from '../replay.ts';
import type { WebhookTools } from '../routes.ts';
import { webhookTexts } from '../screen-texts.ts';
import { testWebhook } from '../test-event.ts';
import { resultOf, shortUrl } from './delivery.rules.ts';
import { idOf, pathOf } from './paths.ts';
import { replayScreens } from './replay.tsx';

/** What an editor does with one webhook. */
export const webhookActs = (tools: WebhookTools) =>
  new Hono<ScreenEnv>()
    .post('/:id/test', async (c) => {
      const editor = requireRole(c, 'editor');
      const id = idOf(c, 'id', 'webhook');
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
      const id = idOf(c, 'id', 'webhook');
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
      await removeWebhook(tools, editor, idOf(c, 'id', 'webhook'));
      flash(c, { kind: 'fine', text: webhookTexts.removed });
      return c.redirect(pathOf(c.var.organization), 303);
    })

    .post('/:id/deliveries/:delivery/redeliver', async (c) => {
      const editor = requireRole(c, 'editor');
      const webhookId = idOf(c, 'id', 'webhook');
      const deliveryId = idOf(c, 'delivery', 'delivery');
      const traceparent = c.get('traceparent') ?? null;
      await redeliver(tools, editor, { webhookId, deliveryId, traceparent });
      flash(c, { kind: 'fine', text: webhookTexts.redelivered });
      return c.redirect(pathOf(c.var.organization, webhookId), 303);
    })

    .route('/', replayScreens(tools));

async function switchTo(c: Context<ScreenEnv>, tools: WebhookTools, active: boolean) {
  const editor = requireRole(c, 'editor');
  const id = idOf(c, 'id', 'webhook');
  await changeWebhook(tools, editor, { id, active });
  flash(c, { kind: 'fine', text: active ? webhookTexts.switchedOn : webhookTexts.switchedOff });
  return c.redirect(pathOf(c.var.organization, id), 303);
}

type ConfirmedAct = {
  path: string;
  title: (host: string) => string;
  means: Child;
  button: string;
};

async function confirmAct(c: Context<ScreenEnv>, tools: WebhookTools, act: ConfirmedAct) {
  const { orgId } = requireRole(c, 'editor');
  const webhook = await getWebhook(tools, orgId, idOf(c, 'id', 'webhook'));
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
