import { type Context, Hono } from 'hono';
import * as v from 'valibot';
import { Refusal, toSentence } from '../../errors.ts';
import { refusalIn } from '../../lib/http/http.ts';
import { idParam } from '../../lib/validation/parse.ts';
import { requireRole, type ScreenEnv } from '../../sessions/session.ts';
import { keepOnce, redirectWith } from '../../web/app/flash.ts';
import {
  emptyForm,
  type FormState,
  optionalText,
  readForm,
  severalOf,
} from '../../web/app/forms.tsx';
import { renderScreen } from '../../web/app/screen.tsx';
import { NewWebhook, type WebhookTools } from '../api.ts';
import { eventTypes } from '../events.ts';
import { changeWebhook, createWebhook, getWebhook } from '../manage.ts';
import { listWebhooks, type WebhookRow } from '../queries.ts';
import { webhookTexts } from '../screen-texts.ts';
import { shortUrl } from './delivery.tsx';
import { WebhookForm, WebhookList, webhookActs } from './list.tsx';
import { pathOf } from './paths.ts';
import { historyScreens } from './replay.tsx';

const types = eventTypes.map(({ type }) => type);

const WebhookFields = v.object({
  url: v.pipe(v.string(), v.trim(), NewWebhook.entries.url),
  events: v.pipe(
    severalOf(v.picklist(types, 'is no event')),
    v.minLength(1, 'Choose at least one event'),
  ),
  description: optionalText(v.pipe(v.string(), NewWebhook.entries.description.wrapped.wrapped)),
  retries: NewWebhook.entries.retries,
});

/** Webhooks: below `/o/:slug/webhooks`. Everybody sees them; editors change them. */
export const webhookScreens = (tools: WebhookTools) =>
  new Hono<ScreenEnv>()
    .get('/', async (c) => {
      const { organization } = c.var;
      const webhooks = await listWebhooks(tools.db, organization.id);
      const mayChange = organization.role !== 'viewer';
      const here = pathOf(organization);
      return renderScreen(c, {
        title: webhookTexts.title,
        section: 'webhooks',
        body: <WebhookList {...{ webhooks, here, mayChange }} />,
        actions: mayChange ? (
          <a class="button primary" href={`${here}/new`}>
            {webhookTexts.create}
          </a>
        ) : null,
      });
    })

    .get('/new', (c) => {
      requireRole(c, 'editor');
      return showForm(c, { form: emptyForm() });
    })

    .post('/', async (c) => {
      const editor = requireRole(c, 'editor');
      const form = await readForm(c, WebhookFields);
      if (form.errors) return showForm(c, { form, status: 422 });
      try {
        const { id, secret } = await createWebhook(tools, editor, form.values);
        keepOnce(c, tools.secrets, editor, { webhook: id, secret });
        return c.redirect(pathOf(c.var.organization, id), 303);
      } catch (error) {
        return showForm(c, { form: refusedForm(error, form.values), status: 422 });
      }
    })

    .get('/:id/edit', async (c) => {
      const { orgId } = requireRole(c, 'editor');
      const webhook = await getWebhook(tools, orgId, idParam(c, 'webhook'));
      return showForm(c, { form: emptyForm(), webhook });
    })

    .post('/:id/edit', async (c) => {
      const editor = requireRole(c, 'editor');
      const webhook = await getWebhook(tools, editor.orgId, idParam(c, 'webhook'));
      const form = await readForm(c, WebhookFields);
      if (form.errors) return showForm(c, { form, webhook, status: 422 });
      try {
        await changeWebhook(tools, editor, { id: webhook.id, ...form.values });
      } catch (error) {
        return showForm(c, { form: refusedForm(error, form.values), webhook, status: 422 });
      }
      return redirectWith(c, pathOf(c.var.organization, webhook.id), webhookTexts.changed);
    })

    .route('/', webhookActs(tools))
    .route('/', historyScreens(tools));

type Shown = { form: FormState; webhook?: WebhookRow; status?: 200 | 422 };

function showForm(c: Context<ScreenEnv>, { form, webhook, status = 200 }: Shown) {
  const { organization } = c.var;
  const here = pathOf(organization, webhook?.id);
  const list = { text: webhookTexts.title, href: pathOf(organization) };
  return renderScreen(c, {
    title: webhook ? `Change ${shortUrl(webhook.url)}` : webhookTexts.create,
    section: 'webhooks',
    trail: webhook ? [list, { text: shortUrl(webhook.url), href: here }] : [list],
    status,
    body: (
      <WebhookForm
        form={form}
        action={webhook ? `${here}/edit` : here}
        cancel={here}
        button={webhook ? webhookTexts.save : webhookTexts.submit}
        {...(webhook && { webhook })}
      />
    ),
  });
}

/** What only the act finds wrong: an address that is not allowed, or too many webhooks. */
function refusedForm(error: unknown, values: v.InferOutput<typeof WebhookFields>): FormState {
  const refusal = refusalIn(error);
  if (!(refusal instanceof Refusal) || refusal.kind !== 'invalid') throw error;
  const field = refusal.code === 'forbidden_url' ? 'url' : '';
  return {
    errors: { [field]: toSentence(refusal.message) },
    typed: {
      url: values.url,
      events: values.events,
      description: values.description ?? '',
      ...(values.retries && { retries: values.retries }),
    },
  };
}
