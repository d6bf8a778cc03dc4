import { type Actor, changesOf, recordAct } from '../audit/acts.ts';
import { enqueue, type JobPayloads } from '../jobs.ts';
import type { SealedFor, Secrets } from '../lib/crypto/secrets.ts';
import { type Db, inTransaction, type Sql } from '../lib/db/db.ts';
import type { Log } from '../lib/log/log.ts';
import type { Excerpt } from '../responses/events.ts';
import type { SubscriberClient } from '../webhooks/deliver.ts';
import { isSuccess } from '../webhooks/rules.ts';
import { type Digest, type NotificationKind, recordChanges } from './choices.ts';
import {
  contents,
  isWanted,
  letterOf,
  type NotificationClaim,
  type NotificationLetter,
  releaseNotification,
  type StoredNotification,
} from './mail.ts';

export type SlackTools = {
  db: Db;
  log: Log;
  outbound: SubscriberClient;
  excerpt: Excerpt;
  secrets: Pick<Secrets, 'open'>;
  publicUrl: string;
};

const deadlineMs = 10_000;
const retryMinutes = [1, 5, 30, 120];

/**
 * Posts a notification to the organization's webhook. Retries only if the message was certainly not accepted, with a
 * new job, because a webhook that is down must not count as a failed job.
 */
export async function postNotification(tools: SlackTools, job: JobPayloads['notifications.post']) {
  const { org_id, notification_id: id, tries = 0 } = job;
  const { db, log, outbound, secrets, publicUrl } = tools;
  const claimed = await claimPost(db, org_id, id);
  if (!claimed) return;
  try {
    const letter = await letterOf(tools, claimed);
    if (!letter) return;
    const { statusCode, errorKind } = await outbound.post(
      secrets.open(hookPlace(org_id), claimed.url),
      {
        group: org_id,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(messageOf(letter, `${publicUrl}/o/${claimed.slug}${letter.path}`)),
        deadlineMs,
      },
    );
    if (errorKind === null && isSuccess(statusCode)) return;
    // No retry after a timeout or a lost connection: the message may have been accepted.
    const mayTryAgain = errorKind
      ? ['dns', 'connect', 'tls', 'busy'].includes(errorKind)
      : statusCode === 429 || (statusCode ?? 0) >= 500;
    const minutes = mayTryAgain ? retryMinutes[tries] : undefined;
    if (minutes === undefined) {
      log.warn({ org_id, outcome: errorKind ?? 'status' }, 'notification was not posted');
      return;
    }
    const runAt = new Date(Date.now() + minutes * 60_000);
    await inTransaction(db, async (tx) => {
      await releaseNotification(tx, claimed);
      const payload = { ...job, tries: tries + 1 };
      await enqueue(tx, [{ task: 'notifications.post', payload, runAt }]);
    });
  } catch (error) {
    await releaseNotification(db, claimed);
    throw error;
  }
}

/** `text` is the fallback for clients without blocks. */
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

type HookTools = {
  db: Db;
  secrets: Pick<Secrets, 'seal' | 'open'>;
  checkTarget: (url: string) => Promise<string | null>;
};
type HookOwner = { orgId: string; actor: Actor };
const hookPlace = (orgId: string): SealedFor => ({ owner: orgId, id: 'slack' });

/** Saves the organization's webhook; without a URL, keeps the stored one. Returns an error sentence for the URL. */
export async function setSlackHook(
  { db, secrets, checkTarget }: HookTools,
  { orgId, actor }: HookOwner,
  { url, events, digest }: Omit<SlackHook, 'url'> & { url: string | null },
): Promise<string | null> {
  const complaint = url === null ? null : await checkTarget(url);
  if (complaint) return complaint;
  return await inTransaction(db, async (tx) => {
    const before = await findSlackHook(tx, orgId);
    const sealed = url === null ? before?.url : secrets.seal(hookPlace(orgId), url);
    if (!sealed) return 'Required.';
    await saveSlackHook(tx, orgId, { url: sealed, events, digest });
    const changes = changesOf(before ?? {}, { events, digest });
    // The path of the address is a secret.
    if (url !== null) {
      const from = before ? new URL(secrets.open(hookPlace(orgId), before.url)).host : null;
      changes['host'] = { from, to: new URL(url).host };
    }
    await recordChanges(tx, { orgId, actor }, changes);
    return null;
  });
}

export async function removeSlackHook(db: Db, { orgId, actor }: HookOwner) {
  await inTransaction(db, async (tx) => {
    const { count } = await tx`delete from slack_hooks where org_id = ${orgId}`;
    if (count === 0) return;
    const act = 'notifications.changed';
    const target = { kind: 'organization', id: orgId };
    await recordAct(tx, { orgId, actor, act, target, details: { removed: true } });
  });
}

export type SlackHook = { url: Buffer; events: NotificationKind[]; digest: Digest };

export async function findSlackHook(sql: Sql, orgId: string) {
  const [hook] = await sql<SlackHook[]>`
    select url, events, digest from slack_hooks where org_id = ${orgId}`;
  return hook;
}

export async function saveSlackHook(sql: Sql, orgId: string, { url, events, digest }: SlackHook) {
  await sql`
    insert into slack_hooks (org_id, url, events, digest)
    values (${orgId}, ${url}, ${events}, ${digest})
    on conflict (org_id) do update
      set url = excluded.url, events = excluded.events, digest = excluded.digest, changed_at = now()`;
}

type SlackClaim = Omit<StoredNotification, 'member_id' | 'email' | 'member'> &
  NotificationClaim & { url: Buffer };

export async function claimPost(sql: Sql, orgId: string, id: string) {
  const [claimed] = await sql<SlackClaim[]>`
    update notifications n
    set sent_at = now()
    from slack_hooks w, organizations o
    where n.org_id = ${orgId} and n.id = ${id} and ${isWanted(sql)}
      and n.member_id is null and w.org_id = n.org_id and o.id = n.org_id
    returning n.id, n.org_id, n.sent_at::text, n.kind, n.subject, o.name as organization, o.slug, o.time_zone,
              w.url, ${contents(sql)}`;
  return claimed;
}
