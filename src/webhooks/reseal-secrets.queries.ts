import type { Sql } from '../lib/db/db.ts';

export type SealedWebhook = {
  org_id: string;
  id: string;
  secret: Buffer;
  previous_secret: Buffer | null;
};

const atOnce = 500;

/** A sealed secret begins with the id of its key. */
export async function listSealedOtherwise(
  sql: Sql,
  { keyId, after }: { keyId: Buffer; after: string | null },
) {
  return await sql<SealedWebhook[]>`
    select org_id, id, secret, previous_secret
    from webhooks
    where (substring(secret from 1 for ${keyId.length}) <> ${keyId}
           or substring(previous_secret from 1 for ${keyId.length}) <> ${keyId})
      and (${after}::uuid is null or id > ${after}::uuid)
    order by id
    limit ${atOnce}`;
}

export async function replaceSealed(
  sql: Sql,
  { org_id, id, secret }: SealedWebhook,
  anew: Pick<SealedWebhook, 'secret' | 'previous_secret'>,
) {
  await sql`
    update webhooks
    set secret = ${anew.secret}, previous_secret = ${anew.previous_secret}
    where org_id = ${org_id} and id = ${id} and secret = ${secret}`;
}
