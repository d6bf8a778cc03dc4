import type { AppMailer } from '../app-mailer.ts';
import type { JobPayloads } from '../jobs.ts';
import type { Secrets } from '../lib/crypto/secrets.ts';
import type { Db } from '../lib/db/db.ts';
import type { Log } from '../lib/log/log.ts';
import type { Excerpt } from '../responses/answer.ts';
import { writeAppLetter } from '../web/app-letter.tsx';
import { claimNotification, releaseNotification } from './facts.queries.ts';
import { letterOf } from './letters.ts';
import { stopToken } from './stop-link.ts';

export type NotificationTools = {
  db: Db;
  log: Log;
  appMailer: AppMailer;
  excerpt: Excerpt;
  secrets: Pick<Secrets, 'seal'>;
  publicUrl: string;
};

/**
 * Mails a notification. It is marked as sent first: a crash in between may lose the mail, and never doubles it.
 * One that the mail server certainly did not take is tried again by the queue, for a day.
 */
export async function mailNotification(
  tools: NotificationTools,
  { org_id, notification_id: id }: JobPayloads['notifications.mail'],
) {
  const { db, log, appMailer, secrets, publicUrl } = tools;
  const claimed = await claimNotification(db, org_id, id);
  if (!claimed) return;
  try {
    const letter = await letterOf(tools, claimed);
    if (!letter) return;
    const { slug, organization, member, email, member_id, kind } = claimed;
    const stop = stopToken(secrets, { orgId: org_id, memberId: member_id, kind });
    const outcome = await appMailer.send({
      ...writeAppLetter({
        ...letter,
        button: { text: letter.action, url: `${publicUrl}/o/${slug}${letter.path}` },
        foot: `You get this mail because you chose so under Settings, Notifications of ${organization}.`,
        stop: { text: 'Stop these mails', url: `${publicUrl}/notifications/stop/${stop}` },
      }),
      to: { name: member, address: email },
      id: `notification-${id}`,
      group: org_id,
    });
    if (outcome.kind === 'lost' || (outcome.kind === 'refused' && !outcome.permanent)) {
      throw new Error(`the mail server did not take a notification: ${outcome.kind}`);
    }
    if (outcome.kind !== 'accepted')
      log.warn({ org_id, outcome: outcome.kind }, 'a notification was not mailed');
  } catch (error) {
    await releaseNotification(db, org_id, id);
    throw error;
  }
}
