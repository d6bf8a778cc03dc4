import type { Db } from '../lib/db/db.ts';
import type { Log } from '../lib/log/log.ts';
import { mailableAddress } from '../lib/smtp/address.ts';
import { compose } from '../lib/smtp/compose.ts';
import type { MailTransport } from '../lib/smtp/smtp.ts';
import type { WebhookRef } from './delivery.queries.ts';
import { type Deactivation, findDeactivation } from './queries.ts';

export type NotifyTools = { db: Db; log: Log; transport: MailTransport; publicUrl: string };

/** Notifies the organization, by mail to its contact address, that a webhook was switched off, and why. */
export async function notifyDeactivated(tools: NotifyTools, { org_id, webhook_id }: WebhookRef) {
  const { db, log, transport, publicUrl } = tools;
  const found = await findDeactivation(db, org_id, webhook_id);
  const to = found?.contact_email && mailableAddress(found.contact_email);
  if (!found || !to) return;

  const { hostname } = new URL(publicUrl);
  const from = mailableAddress(`askback@${hostname}`) ?? to;
  const letter = compose({
    from: { name: 'askback', address: from },
    replyTo: null,
    subject: `A webhook of ${found.organization} was switched off`,
    headers: { 'Auto-Submitted': 'auto-generated' },
    ...wordsOf(found),
  });
  const messageId = `deactivated-${webhook_id}-${found.deactivated_at.getTime()}@${hostname}`;
  const message = letter({
    to: { name: null, address: to },
    messageId,
    date: new Date(),
    slots: {},
  });
  const outcome = await transport.send({ from, to }, message, { group: org_id });
  if (outcome.kind !== 'accepted')
    log.warn({ webhook_id, outcome: outcome.kind }, 'a notice was not mailed');
}

function wordsOf({ url, deactivated_at, deactivated_reason }: Deactivation) {
  const sentences = [
    `The webhook ${url} was switched off on ${deactivated_at.toISOString()}.`,
    `Why: ${deactivated_reason}.`,
    'Events since then are kept as skipped deliveries. When the address answers again, switch the webhook on (PUT /api/webhooks/:id with {"active": true}) and have them replayed (POST /api/webhooks/:id/replay).',
  ];
  const html = sentences.map((sentence) => `<p>${escaped(sentence)}</p>`).join('\n');
  return { text: sentences.join('\n\n'), html };
}

const escaped = (text: string) =>
  text.replace(/[&<>"]/g, (letter) => `&#${letter.codePointAt(0)};`);
