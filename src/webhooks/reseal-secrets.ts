import type { Secrets } from '../lib/crypto/secrets.ts';
import type { Db } from '../lib/db/db.ts';
import type { Log } from '../lib/log/log.ts';
import {
  listSealedOtherwise,
  replaceSealed,
  type SealedWebhook,
} from './reseal-secrets.queries.ts';

type ResealTools = { db: Db; log: Log; secrets: Secrets };

/**
 * Seals with the key of today what was sealed with the one before, so that the one before is not needed
 * any more. What another process does meanwhile, a new secret say, is left as that process left it.
 */
export async function resealSecrets({ db, log, secrets }: ResealTools) {
  let unreadable = 0;
  let found: readonly SealedWebhook[];
  let after: string | null = null;
  do {
    found = await listSealedOtherwise(db, { keyId: secrets.keyId, after });
    for (const webhook of found) {
      const anew = sealAnew(secrets, webhook);
      await replaceSealed(db, webhook, anew);
      if (!anew.readable) unreadable += 1;
    }
    after = found.at(-1)?.id ?? null;
  } while (after !== null);
  if (unreadable > 0) log.error({ count: unreadable }, 'secrets of webhooks cannot be opened');
}

/** Each by itself: one that cannot be opened stays as it is, and keeps the other from nothing. */
function sealAnew(secrets: Secrets, { org_id: orgId, id, ...sealed }: SealedWebhook) {
  let readable = true;
  const again = (bytes: Buffer) => {
    try {
      return secrets.seal({ orgId, id }, secrets.open({ orgId, id }, bytes));
    } catch {
      readable = false;
      return bytes;
    }
  };
  const secret = again(sealed.secret);
  const previous_secret = sealed.previous_secret && again(sealed.previous_secret);
  return { secret, previous_secret, readable };
}
