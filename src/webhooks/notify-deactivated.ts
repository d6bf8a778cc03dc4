import type { AppMailer } from '../app-mailer.ts';
import type { Db } from '../lib/db/db.ts';
import type { Log } from '../lib/log/log.ts';
import { writeAppLetter } from '../web/app-letter.tsx';
import type { WebhookRef } from './delivery.queries.ts';
import { type Deactivation, findDeactivation } from './queries.ts';

export type NotifyTools = { db: Db; log: Log; appMailer: AppMailer };

/** Notifies the organization, by mail to its contact address, that a webhook was switched off, and why. */
export async function notifyDeactivated(tools: NotifyTools, { org_id, webhook_id }: WebhookRef) {
  const { db, log, appMailer } = tools;
  const found = await findDeactivation(db, org_id, webhook_id);
  if (!found?.contact_email) return;
  const outcome = await appMailer.send({
    to: { name: null, address: found.contact_email },
    ...writeAppLetter(letterOf(found)),
    id: `deactivated-${webhook_id}-${found.deactivated_at.getTime()}`,
    group: org_id,
  });
  if (outcome.kind !== 'accepted')
    log.warn({ webhook_id, outcome: outcome.kind }, 'a notice was not mailed');
}

const letterOf = ({ organization, url, deactivated_at, deactivated_reason }: Deactivation) => ({
  subject: `A webhook of ${organization} was switched off`,
  sentences: [
    `The webhook ${url} was switched off on ${deactivated_at.toISOString()}.`,
    `Why: ${deactivated_reason}.`,
    'Events since then are kept as skipped deliveries. When the address answers again, switch the webhook on (PUT /api/webhooks/:id with {"active": true}) and have them replayed (POST /api/webhooks/:id/replay).',
  ],
  foot: `You get this mail because yours is the contact address of ${organization}.`,
});
