import type { Secrets } from '../lib/crypto/secrets.ts';
import type { Db } from '../lib/db/db.ts';
import type { Log } from '../lib/log/log.ts';
import {
  listSealedWithOtherKey,
  replaceSealedSecrets,
  type SealedWebhook,
} from './reseal-secrets.queries.ts';

type ResealTools = { db: Db; log: Log; secrets: Secrets };

/**
 * Seals secrets that the previous key sealed with the current one, so that the previous key can go. A
 * secret that another process changes meanwhile stays as that process wrote it.
 */
export async function resealSecrets({ db, log, secrets }: ResealTools) {
  let unreadable = 0;
  let found: readonly SealedWebhook[];
  let after: string | null = null;
  do {
    found = await listSealedWithOtherKey(db, { keyId: secrets.keyId, after });
    for (const webhook of found) {
      const resealed = reseal(secrets, webhook);
      await replaceSealedSecrets(db, webhook, resealed);
      if (!resealed.readable) unreadable += 1;
    }
    after = found.at(-1)?.id ?? null;
  } while (after !== null);
  if (unreadable > 0) log.error({ count: unreadable }, 'secrets of webhooks cannot be opened');
}

/** Each secret by itself: one that cannot be opened stays as it is and does not stop the other. */
function reseal(secrets: Secrets, { org_id: owner, id, ...sealed }: SealedWebhook) {
  let readable = true;
  const again = (bytes: Buffer) => {
    try {
      return secrets.seal({ owner, id }, secrets.open({ owner, id }, bytes));
    } catch {
      readable = false;
      return bytes;
    }
  };
  const secret = again(sealed.secret);
  const previous_secret = sealed.previous_secret && again(sealed.previous_secret);
  return { secret, previous_secret, readable };
}
