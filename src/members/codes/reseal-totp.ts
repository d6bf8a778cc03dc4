import type { Secrets } from '../../lib/crypto/secrets.ts';
import type { Db } from '../../lib/db/db.ts';
import type { Log } from '../../lib/log/log.ts';
import { totpOwner } from './codes.ts';
import { listTotpOfOtherKey, replaceTotpSecret, type SealedTotp } from './queries.ts';

type ResealTotpTools = { db: Db; log: Log; secrets: Secrets };

/** Seals secrets of authenticator apps that the previous key sealed with the current one. */
export async function resealTotpSecrets({ db, log, secrets }: ResealTotpTools) {
  let unreadable = 0;
  let found: readonly SealedTotp[];
  let after: string | null = null;
  do {
    found = await listTotpOfOtherKey(db, { keyId: secrets.keyId, after });
    for (const sealed of found) {
      const resealed = reseal(secrets, sealed);
      if (resealed) await replaceTotpSecret(db, sealed, resealed);
      else unreadable += 1;
    }
    after = found.at(-1)?.id ?? null;
  } while (after !== null);
  if (unreadable > 0)
    log.error({ count: unreadable }, 'secrets of one-time codes cannot be opened');
}

function reseal(secrets: Secrets, { id, totp_secret }: SealedTotp): Buffer | undefined {
  try {
    return secrets.seal(totpOwner(id), secrets.openBytes(totpOwner(id), totp_secret));
  } catch {
    return undefined; // another key sealed it: it stays, in case that key comes back
  }
}
