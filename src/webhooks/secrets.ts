import type { Secrets } from '../lib/crypto/secrets.ts';
import type { Db, Sql } from '../lib/db/db.ts';
import type { Log } from '../lib/log/log.ts';

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

const resealedAtOnce = 500;

type SealedWebhook = {
  org_id: string;
  id: string;
  secret: Buffer;
  previous_secret: Buffer | null;
};

/** Webhooks with a secret that is not sealed with this key. A sealed secret begins with the id of its key. */
async function listSealedWithOtherKey(
  sql: Sql,
  { keyId, after }: { keyId: Buffer; after: string | null },
) {
  return await sql<SealedWebhook[]>`
    -- all organizations
    select org_id, id, secret, previous_secret
    from webhooks
    where (substring(secret from 1 for ${keyId.length}) <> ${keyId}
           or substring(previous_secret from 1 for ${keyId.length}) <> ${keyId})
      and (${after}::uuid is null or id > ${after}::uuid)
    order by id
    limit ${resealedAtOnce}`;
}

async function replaceSealedSecrets(
  sql: Sql,
  { org_id, id, secret }: SealedWebhook,
  resealed: Pick<SealedWebhook, 'secret' | 'previous_secret'>,
) {
  await sql`
    update webhooks
    set secret = ${resealed.secret}, previous_secret = ${resealed.previous_secret}
    where org_id = ${org_id} and id = ${id} and secret = ${secret}`;
}
