import { randomBytes } from 'node:crypto';
import type { Actor } from '../audit/actor.ts';
import { recordAct } from '../audit/record.ts';
import { notFound, Refusal } from '../errors.ts';
import { listUrls } from '../lib/db/database-url.ts';
import { type Db, violates } from '../lib/db/db.ts';
import { inTransaction } from '../lib/db/transaction.ts';
import { createRole, deleteReporter, dropRole, insertReporter } from './queries.ts';

type NewReporter = { orgId: string; name?: string | undefined; actor: Actor };

/** Makes a role that reads the views of one organization. Its password is known only now. */
export async function createReporter(db: Db, { orgId, name: given, actor }: NewReporter) {
  const suffix = randomBytes(4).toString('hex');
  const name = given ?? `reporter-${suffix}`;
  const role = `askback_reporter_${suffix}`;
  const password = randomBytes(24).toString('base64url');
  const row = await inTransaction(db, async (tx) => {
    const made = await insertReporter(tx, { org_id: orgId, name, role_name: role });
    await createRole(tx, role, password);
    await recordAct(tx, {
      orgId,
      actor,
      act: 'reporter.created',
      target: { kind: 'reporter', id: name },
    });
    return made;
  }).catch((error: unknown) => {
    throw refused(error, name) ?? error;
  });
  return { ...row, password };
}

export async function revokeReporter(db: Db, name: string, actor: Actor) {
  return await inTransaction(db, async (tx) => {
    const row = await deleteReporter(tx, name);
    if (!row) throw notFound('reporter');
    await dropRole(tx, row.role_name);
    const target = { kind: 'reporter', id: name };
    await recordAct(tx, { orgId: row.org_id, actor, act: 'reporter.revoked', target });
    return row;
  });
}

/** Where a reporter connects: the database of the service, as another role. */
export function reporterUrl(databaseUrl: string, role: string, password: string): string {
  const url = new URL(listUrls(databaseUrl)[0]!);
  url.username = role;
  url.password = password;
  return url.href;
}

const insufficientPrivilege = '42501';

function refused(error: unknown, name: string): Refusal | undefined {
  if (violates(error, 'reporters_belong_to_organization')) return notFound('organization');
  if (violates(error, 'reporters_one_per_name')) {
    return new Refusal('conflict', `there is a reporter named ${name} already`);
  }
  if ((error as { code?: string }).code !== insufficientPrivilege) return undefined;
  return new Refusal(
    'forbidden',
    'the role in DATABASE_URL may not make roles: an administrator of Postgres can allow it with ALTER ROLE ... CREATEROLE',
  );
}
