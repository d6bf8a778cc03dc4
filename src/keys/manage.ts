import { randomBytes } from 'node:crypto';
import { recordAct, type Writer } from '../audit/acts.ts';
import { notFound } from '../errors.ts';
import { type Db, inTransaction, type Sql, violates } from '../lib/db/db.ts';
import { deleteRows } from '../lib/db/delete-in-batches.ts';
import { findKey, insertKey, type ListedKey, type Permission, revokeLiveKey } from './queries.ts';
import { formatKey } from './rules.ts';

export async function createKey(db: Db, writer: Writer, options: KeyOptions) {
  return await inTransaction(db, async (tx) => {
    const key = await issueKey(tx, writer.orgId, options).catch(refuseUnknownOrganization);
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

function refuseUnknownOrganization(error: unknown): never {
  throw violates(error, 'api_keys_belong_to_organization') ? notFound('organization') : error;
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

export async function getKey(sql: Sql, orgId: string, id: string): Promise<ListedKey> {
  const key = await findKey(sql, orgId, id);
  if (!key) throw notFound('key');
  return key;
}

type KeyOptions = { name: string; permission?: Permission; expires_at?: Date | null };

export async function issueKey(sql: Sql, orgId: string, options: KeyOptions) {
  const { key, publicId, secretHash } = formatKey(randomBytes(8), randomBytes(32));
  const { name, permission = 'read', expires_at = null } = options;
  const row = await insertKey(sql, orgId, { publicId, secretHash, name, permission, expires_at });
  return { ...row, key };
}

/** Deletes expired responses and rate windows, with room for clocks that differ. */
export async function cleanUpKeys({ db }: { db: Db }) {
  await deleteRows(db, 'idempotency_keys', db`created_at < now() - interval '24 hours'`);
  await deleteRows(db, 'rate_windows', db`minute < now() - interval '5 minutes'`);
}
