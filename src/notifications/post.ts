import { enqueue, type JobPayloads } from '../jobs.ts';
import type { Secrets } from '../lib/crypto/secrets.ts';
import type { Db } from '../lib/db/db.ts';
import { inTransaction } from '../lib/db/transaction.ts';
import type { Log } from '../lib/log/log.ts';
import type { Excerpt } from '../responses/answer.ts';
import type { SubscriberAnswer, SubscriberClient } from '../webhooks/deliver.ts';
import { releaseNotification } from './facts.queries.ts';
import { letterOf, type NotificationLetter } from './letters.ts';
import { claimPost } from './slack.queries.ts';
import { hookPlace } from './slack.ts';

export type SlackTools = {
  db: Db;
  log: Log;
  outbound: SubscriberClient;
  excerpt: Excerpt;
  secrets: Pick<Secrets, 'open'>;
  publicUrl: string;
};

const deadlineMs = 10_000;
const waitsMinutes = [1, 5, 30, 120];

/** Posts a notification to the organization's webhook; one that was certainly not taken is tried a few times. */
export async function postNotification(tools: SlackTools, job: JobPayloads['notifications.post']) {
  const { db, log, outbound, secrets, publicUrl } = tools;
  const { org_id, notification_id, tries } = job;
  const claimed = await claimPost(db, org_id, notification_id);
  if (!claimed) return;
  const letter = await letterOf(tools, claimed);
  if (!letter) return;
  const answer = await outbound.post(secrets.open(hookPlace(org_id), claimed.url), {
    group: org_id,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(messageOf(letter, `${publicUrl}/o/${claimed.slug}${letter.path}`)),
    deadlineMs,
  });
  if (isTaken(answer)) return;
  const minutes = waitsMinutes[tries];
  if (minutes === undefined || !mayBeTriedAgain(answer)) {
    log.warn({ org_id, outcome: answer.errorKind ?? 'status' }, 'a notification was not posted');
    return;
  }
  await inTransaction(db, async (tx) => {
    await releaseNotification(tx, org_id, notification_id);
    const runAt = new Date(Date.now() + minutes * 60_000);
    await enqueue(tx, [
      { task: 'notifications.post', payload: { ...job, tries: tries + 1 }, runAt },
    ]);
  });
}

const isTaken = ({ statusCode, error }: SubscriberAnswer) =>
  error === null && statusCode !== null && statusCode >= 200 && statusCode < 300;

const unreached: readonly unknown[] = ['dns', 'connect', 'tls', 'busy'];

/** Not after a deadline or a connection that ended: the message may have been taken. */
const mayBeTriedAgain = ({ statusCode, errorKind }: SubscriberAnswer) =>
  errorKind === null
    ? statusCode === 429 || (statusCode ?? 0) >= 500
    : unreached.includes(errorKind);

/** `text` for what shows no blocks. Three characters have a meaning in either. */
function messageOf({ subject, sentences, action }: NotificationLetter, url: string) {
  const title = escaped(subject);
  const words = sentences.map(escaped).join('\n');
  const text = `*${title}*\n${words}\n<${url}|${action}>`;
  return {
    text: `${title}\n${words}\n${url}`,
    blocks: [{ type: 'section', text: { type: 'mrkdwn', text } }],
  };
}

const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
