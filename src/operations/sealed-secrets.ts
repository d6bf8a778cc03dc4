import type { Secrets } from '../lib/crypto/secrets.ts';
import type { Sql } from '../lib/db/db.ts';
import { listSealedSamples, type SealedSample } from './queries.ts';

/** How many webhooks have a secret that the keys of this process cannot open. */
export async function countUnreadableSecrets(sql: Sql, secrets: Secrets): Promise<number> {
  const samples = await listSealedSamples(sql, secrets.keyId.length);
  return samples
    .filter((sample) => !opens(secrets, sample))
    .reduce((sum, { webhooks }) => sum + webhooks, 0);
}

function opens(secrets: Secrets, { org_id: orgId, id, secret }: SealedSample): boolean {
  try {
    secrets.open({ owner: orgId, id }, secret);
    return true;
  } catch {
    return false;
  }
}

/** What is wrong with the key, and what to do; undefined if all secrets can be opened. */
export function wrongKeySentence(webhooks: number): string | undefined {
  if (webhooks === 0) return undefined;
  const which =
    webhooks === 1 ? 'the secret of 1 webhook was' : `the secrets of ${webhooks} webhooks were`;
  return `ASKBACK_SECRET_KEY is not the key that ${which} encrypted with: their deliveries fail until that key is set again, as ASKBACK_PREVIOUS_SECRET_KEY if it was changed on purpose, or each gets a new secret`;
}
