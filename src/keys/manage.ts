import { randomBytes } from 'node:crypto';
import { recordAct, type Writer } from '../audit/acts.ts';
import { type Db, inTransaction, one, type Sql } from '../lib/db/db.ts';
import { deleteRows } from '../lib/db/delete-in-batches.ts';
import { keyHours } from './idempotency.ts';
import { getKey, type KeyRow, type ListedKey, type Permission, revokeLiveKey } from './queries.ts';
import { formatKey } from './rules.ts';

export async function createKey(db: Db, writer: Writer, options: KeyOptions) {
  return await inTransaction(db, async (tx) => {
    const key = await issueKey(tx, writer.orgId, options);
    const { name, permission, expires_at } = key;
    await recordAct(tx, {
      ...writer,
      act: 'key.created',
      target: { kind: 'key', id: key.id },
      details: { name, permission, expires_at: expires_at?.toISOString() ?? null },
    });
    return key;
  });
}

/** Revokes a key. Revoking it again keeps the first time. */
export async function revokeKey(db: Db, writer: Writer, id: string): Promise<ListedKey> {
  return await inTransaction(db, async (tx) => {
    const revoked = await revokeLiveKey(tx, writer.orgId, id);
    if (!revoked) return await getKey(tx, writer.orgId, id);
    const target = { kind: 'key', id };
    await recordAct(tx, { ...writer, act: 'key.revoked', target, details: { name: revoked.name } });
    return revoked;
  });
}

type KeyOptions = { name: string; permission?: Permission; expires_at?: Date | null };

export async function issueKey(sql: Sql, orgId: string, options: KeyOptions) {
  const { key, publicId, secretHash } = formatKey(randomBytes(8), randomBytes(32));
  const { name, permission = 'read', expires_at = null } = options;
  const row = one(
    await sql<KeyRow[]>`
      insert into api_keys (org_id, name, public_id, secret_hash, permission, expires_at)
      values (${orgId}, ${name}, ${publicId}, ${secretHash}, ${permission}, ${expires_at})
      returning id, org_id, name, permission, expires_at, revoked_at, created_at`,
  );
  return { ...row, key };
}

/** Deletes expired responses and rate windows, with room for clocks that differ. */
export async function cleanUpKeys({ db }: { db: Db }) {
  const isExpired = db`created_at < now() - make_interval(hours => ${keyHours}::int)`;
  await deleteRows(db, 'idempotency_keys', isExpired);
  await deleteRows(db, 'rate_windows', db`minute < now() - interval '5 minutes'`);
}
