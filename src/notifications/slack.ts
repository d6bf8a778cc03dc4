import { type Actor, changesOf } from '../audit/acts.ts';
import { enqueue, type JobPayloads } from '../jobs.ts';
import type { SealedFor, Secrets } from '../lib/crypto/secrets.ts';
import { type Db, inTransaction, type Sql } from '../lib/db/db.ts';
import type { Log } from '../lib/log/log.ts';
import type { Excerpt } from '../responses/events.ts';
import type { SubscriberClient } from '../webhooks/deliver.ts';
import { isSuccess } from '../webhooks/rules.ts';
import { type Digest, type NotificationKind, recordChange } from './choices.ts';
import {
  contents,
  letterOf,
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
export const retryMinutes = [1, 5, 30, 120];

/** Posts a notification to the organization's webhook. Retries only if the message was certainly not accepted. */
export async function postNotification(tools: SlackTools, job: JobPayloads['notifications.post']) {
  const { db, log, outbound, secrets, publicUrl } = tools;
  const { org_id, notification_id, tries } = job;
  const claimed = await claimPost(db, org_id, notification_id);
  if (!claimed) return;
  const letter = await letterOf(tools, claimed).catch(async (error: unknown) => {
    await releaseNotification(db, org_id, notification_id);
    throw error;
  });
  if (!letter) return;
  const answer = await outbound.post(secrets.open(hookPlace(org_id), claimed.url), {
    group: org_id,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(messageOf(letter, `${publicUrl}/o/${claimed.slug}${letter.path}`)),
    deadlineMs,
  });
  const { statusCode, errorKind } = answer;
  if (errorKind === null && isSuccess(statusCode)) return;
  // No retry after a timeout or a lost connection: the message may have been accepted.
  const mayTryAgain = errorKind
    ? ['dns', 'connect', 'tls', 'busy'].includes(errorKind)
    : statusCode === 429 || (statusCode ?? 0) >= 500;
  const minutes = retryMinutes[tries];
  if (minutes === undefined || !mayTryAgain) {
    log.warn({ org_id, outcome: errorKind ?? 'status' }, 'notification was not posted');
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

/** Saves the organization's webhook. Returns an error sentence if its URL is not allowed. */
export async function setSlackHook(
  { db, secrets, checkTarget }: HookTools,
  { orgId, actor }: HookOwner,
  { url, events, digest }: Omit<SlackHook, 'url'> & { url: string | null },
): Promise<string | null> {
  const complaint = url === null ? null : await checkTarget(url);
  if (complaint) return complaint;
  const sealed = url === null ? null : secrets.seal(hookPlace(orgId), url);
  return await inTransaction(db, async (tx) => {
    const before = await findSlackHook(tx, orgId);
    if (!(await saveSlackHook(tx, orgId, { url: sealed, events, digest }))) return 'Required.';
    const changes = changesOf(before ?? {}, { events, digest });
    // The path of the address is a secret.
    if (url !== null) {
      const from = before ? new URL(secrets.open(hookPlace(orgId), before.url)).host : null;
      changes['host'] = { from, to: new URL(url).host };
    }
    if (Object.keys(changes).length > 0) await recordChange(tx, { orgId, actor }, { changes });
    return null;
  });
}

export async function removeSlackHook(db: Db, { orgId, actor }: HookOwner) {
  await inTransaction(db, async (tx) => {
    const { count } = await tx`delete from slack_hooks where org_id = ${orgId}`;
    if (count > 0) await recordChange(tx, { orgId, actor }, { removed: true });
  });
}

export type SlackHook = { url: Buffer; events: NotificationKind[]; digest: Digest };

export async function findSlackHook(sql: Sql, orgId: string) {
  const [hook] = await sql<SlackHook[]>`
    select url, events, digest from slack_hooks where org_id = ${orgId}`;
  return hook;
}

/** Without a URL, keeps the stored one, or returns false if none is stored. */
export async function saveSlackHook(
  sql: Sql,
  orgId: string,
  { url, events, digest }: Omit<SlackHook, 'url'> & { url: Buffer | null },
) {
  const [saved] = url
    ? await sql`
        insert into slack_hooks (org_id, url, events, digest)
        values (${orgId}, ${url}, ${[...events]}, ${digest})
        on conflict (org_id) do update
          set url = excluded.url, events = excluded.events, digest = excluded.digest, changed_at = now()
        returning org_id`
    : await sql`
        update slack_hooks
        set events = ${[...events]}, digest = ${digest}, changed_at = now()
        where org_id = ${orgId}
        returning org_id`;
  return saved !== undefined;
}

type SlackClaim = Omit<StoredNotification, 'member_id' | 'email' | 'member'> & { url: Buffer };

/** Marks a notification as posted. Returns undefined if it was posted before, is a day old, or is no longer wanted. */
export async function claimPost(sql: Sql, orgId: string, id: string) {
  const [claimed] = await sql<SlackClaim[]>`
    update notifications n
    set sent_at = now()
    from slack_hooks h, organizations o
    where n.org_id = ${orgId} and n.id = ${id} and n.member_id is null and n.sent_at is null
      and n.created_at > now() - interval '1 day'
      and h.org_id = n.org_id
      and case n.kind when 'digest' then h.digest <> 'none' else n.kind = any(h.events) end and o.id = n.org_id
    returning n.org_id, n.kind, n.subject, o.name as organization, o.slug, o.time_zone, h.url, ${contents(sql)}`;
  return claimed;
}
