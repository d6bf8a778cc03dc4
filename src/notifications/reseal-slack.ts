import type { Secrets } from '../lib/crypto/secrets.ts';
import type { Db } from '../lib/db/db.ts';
import type { Log } from '../lib/log/log.ts';
import { listHooksOfOtherKey, replaceHook } from './slack.queries.ts';
import { hookPlace } from './slack.ts';

/** Seals addresses that the previous key sealed with the current one. */
export async function resealSlackHooks({
  db,
  log,
  secrets,
}: {
  db: Db;
  log: Log;
  secrets: Secrets;
}) {
  let unreadable = 0;
  for (const hook of await listHooksOfOtherKey(db, secrets.keyId)) {
    const resealed = reseal(secrets, hook);
    if (resealed) await replaceHook(db, hook, resealed);
    else unreadable += 1;
  }
  if (unreadable > 0)
    log.error({ count: unreadable }, 'addresses of Slack webhooks cannot be opened');
}

function reseal(secrets: Secrets, { org_id, url }: { org_id: string; url: Buffer }) {
  try {
    return secrets.seal(hookPlace(org_id), secrets.openBytes(hookPlace(org_id), url));
  } catch {
    return undefined; // another key sealed it: it stays, in case that key comes back
  }
}
