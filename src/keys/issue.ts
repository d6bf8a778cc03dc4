import { randomBytes } from 'node:crypto';
import type { Sql } from '../lib/db/db.ts';
import { insertKey, type Permission } from './queries.ts';
import { spellKey } from './rules.ts';

export type KeyOptions = { name: string; permission?: Permission; expires_at?: Date | null };

/** Makes a key. Its text is in this answer and nowhere else. */
export async function issueKey(sql: Sql, orgId: string, options: KeyOptions) {
  const { key, publicId, secretHash } = spellKey(randomBytes(8), randomBytes(32));
  const { name, permission = 'read', expires_at = null } = options;
  const row = await insertKey(sql, orgId, { publicId, secretHash, name, permission, expires_at });
  return { ...row, key };
}
