import type { Writer } from '../audit/actor.ts';
import { recordAct } from '../audit/record.ts';
import { notFound } from '../errors.ts';
import { type Db, type Sql, violates } from '../lib/db/db.ts';
import { inTransaction } from '../lib/db/transaction.ts';
import { issueKey, type KeyOptions } from './issue.ts';
import { findKey, type ListedKey, revokeLiveKey } from './queries.ts';

/** Makes a key of the organization. Its text is in this answer and nowhere else. */
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

/** Makes a key stop working. One that is revoked already keeps the time at which it was. */
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
