import type { Sql } from '../lib/db/db.ts';

const resealedAtOnce = 500;

export type SealedWebhook = {
  org_id: string;
  id: string;
  secret: Buffer;
  previous_secret: Buffer | null;
};

/** Webhooks with a secret that is not sealed with this key. A sealed secret begins with the id of its key. */
export async function listSealedWithOtherKey(
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

export async function replaceSealedSecrets(
  sql: Sql,
  { org_id, id, secret }: SealedWebhook,
  resealed: Pick<SealedWebhook, 'secret' | 'previous_secret'>,
) {
  await sql`
    update webhooks
    set secret = ${resealed.secret}, previous_secret = ${resealed.previous_secret}
    where org_id = ${org_id} and id = ${id} and secret = ${secret}`;
}
