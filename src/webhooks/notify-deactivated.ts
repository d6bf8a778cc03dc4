import type { AppMailer } from '../app-mailer.ts';
import type { Db } from '../lib/db/db.ts';
import type { Log } from '../lib/log/log.ts';
import { writeAppLetter } from '../web/app-letter.tsx';
import type { WebhookRef } from './delivery.queries.ts';
import { type Deactivation, findDeactivation } from './queries.ts';

export type NotifyTools = { db: Db; log: Log; appMailer: AppMailer; publicUrl: string };

/** Notifies the organization, by mail to its contact address, that a webhook was switched off, and why. */
export async function notifyDeactivated(tools: NotifyTools, { org_id, webhook_id }: WebhookRef) {
  const { db, log, appMailer, publicUrl } = tools;
  const found = await findDeactivation(db, org_id, webhook_id);
  if (!found?.contact_email) return;
  const outcome = await appMailer.send({
    to: { name: null, address: found.contact_email },
    ...writeAppLetter(letterOf(found, `${publicUrl}/o/${found.slug}/webhooks/${webhook_id}`)),
    id: `deactivated-${webhook_id}-${found.deactivated_at.getTime()}`,
    group: org_id,
  });
  if (outcome.kind !== 'accepted')
    log.warn({ webhook_id, outcome: outcome.kind }, 'a notice was not mailed');
}

/** Its reader may be a member or not: the button leads to the app, and the calls of the API are named as well. */
const letterOf = (
  { organization, url, deactivated_at, deactivated_reason }: Deactivation,
  screen: string,
) => ({
  subject: `A webhook of ${organization} was switched off`,
  sentences: [
    `The webhook ${url} was switched off on ${deactivated_at.toISOString()}.`,
    `Why: ${deactivated_reason}.`,
    'Events since then are kept as skipped deliveries. When the address answers again, switch the webhook on and replay them: in the app, or by the API (PUT /api/webhooks/:id with {"active": true}, then POST /api/webhooks/:id/replay).',
  ],
  button: { text: 'Open the webhook', url: screen },
  foot: `You get this mail because yours is the contact address of ${organization}.`,
});
