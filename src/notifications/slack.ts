import type { Actor } from '../audit/actor.ts';
import { recordAct } from '../audit/record.ts';
import type { SealedFor, Secrets } from '../lib/crypto/secrets.ts';
import type { Db } from '../lib/db/db.ts';
import { inTransaction } from '../lib/db/transaction.ts';
import type { Digest, NotificationKind } from './rules.ts';
import { deleteSlackHook, saveSlackHook } from './slack.queries.ts';

type HookTools = {
  db: Db;
  secrets: Pick<Secrets, 'seal'>;
  judgeTarget: (url: string) => Promise<string | null>;
};
type HookOwner = { orgId: string; actor: Actor };
type HookWish = { url: string | null; events: NotificationKind[]; digest: Digest };

export const hookPlace = (orgId: string): SealedFor => ({ owner: orgId, id: 'slack' });

/** Has the organization notified through a webhook. What is wrong with its address comes back, as a sentence. */
export async function setSlackHook(
  { db, secrets, judgeTarget }: HookTools,
  { orgId, actor }: HookOwner,
  { url, events, digest }: HookWish,
): Promise<string | null> {
  const complaint = url === null ? null : await judgeTarget(url);
  if (complaint) return complaint;
  const sealed = url === null ? null : secrets.seal(hookPlace(orgId), url);
  return await inTransaction(db, async (tx) => {
    if (!(await saveSlackHook(tx, orgId, { url: sealed, events, digest })))
      return 'an address is needed';
    const target = { kind: 'organization', id: orgId };
    const details = { events, digest, host: url === null ? null : new URL(url).host };
    await recordAct(tx, { orgId, actor, act: 'notifications.changed', target, details });
    return null;
  });
}

export async function removeSlackHook(db: Db, { orgId, actor }: HookOwner) {
  await inTransaction(db, async (tx) => {
    if (!(await deleteSlackHook(tx, orgId))) return;
    const target = { kind: 'organization', id: orgId };
    const details = { removed: true };
    await recordAct(tx, { orgId, actor, act: 'notifications.changed', target, details });
  });
}
