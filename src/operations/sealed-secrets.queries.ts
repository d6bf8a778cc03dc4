import type { Sql } from '../lib/db/db.ts';

export type SealedSample = { org_id: string; id: string; secret: Buffer; webhooks: number };

/** One webhook for each key that secrets are encrypted with, and how many have that key. */
export async function listSealedSamples(sql: Sql, keyIdBytes: number) {
  return await sql<SealedSample[]>`
    select distinct on (key_id) org_id, id, secret, (count(*) over (partition by key_id))::int as webhooks
    from (
      select org_id, id, secret, substring(secret from 1 for ${keyIdBytes}) as key_id
      from webhooks
    ) sealed
    order by key_id`;
}
