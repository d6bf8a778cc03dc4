import { randomBytes } from 'node:crypto';
import { type Actor, recordAct } from '../audit/acts.ts';
import { notFound, Refusal } from '../errors.ts';
import { type Db, inTransaction, listUrls, one, type Sql, violates } from '../lib/db/db.ts';

type NewReporter = { orgId: string; name?: string | undefined; actor: Actor };

/** Creates a Postgres role that reads the views of one organization. Its password is not stored. */
export async function createReporter(db: Db, { orgId, name: chosenName, actor }: NewReporter) {
  const suffix = randomBytes(4).toString('hex');
  const name = chosenName ?? `reporter-${suffix}`;
  const role = `askback_reporter_${suffix}`;
  const password = randomBytes(24).toString('base64url');
  const row = await inTransaction(db, async (tx) => {
    const rows = await tx<ReporterRow[]>`
      insert into reporters (org_id, name, role_name)
      values (${orgId}, ${name}, ${role})
      returning org_id, name, role_name, created_at`;
    await tx`select create_reporter_role(${role}, ${password})`;
    const target = { kind: 'reporter', id: name };
    await recordAct(tx, { orgId, actor, act: 'reporter.created', target });
    return one(rows);
  }).catch((error: unknown) => {
    throw describeError(error, name) ?? error;
  });
  return { ...row, password };
}

const largeObjectsAtOnce = 1000;

/** Revokes access first, then deletes the large objects that the role made, then the role. Can be repeated. */
export async function revokeReporter(db: Db, name: string, actor: Actor) {
  const [reporter] = await db<{ role_name: string; usable: boolean }[]>`
    -- all organizations
    select role_name, exists (select from pg_roles where rolname = role_name) as usable
    from reporters
    where name = ${name}`;
  if (!reporter) throw notFound('reporter');
  const { role_name, usable } = reporter;
  if (usable) {
    await db`select disable_reporter_role(${role_name})`;
    await db`select end_reporter_sessions(${role_name})`;
    while (await deleteLargeObjects(db, role_name));
  }
  return await inTransaction(db, async (tx) => {
    const [row] = await tx<ReporterRow[]>`
      -- all organizations
      delete from reporters
      where name = ${name}
      returning org_id, name, role_name, created_at`;
    if (!row) throw notFound('reporter');
    if (usable) await tx`select drop_reporter_role(${role_name})`;
    const target = { kind: 'reporter', id: name };
    await recordAct(tx, { orgId: row.org_id, actor, act: 'reporter.revoked', target });
    return row;
  });
}

async function deleteLargeObjects(sql: Sql, role: string): Promise<boolean> {
  const { deleted } = one(
    await sql<{ deleted: number }[]>`
      select delete_large_objects(${role}, ${largeObjectsAtOnce})::int as deleted`,
  );
  return deleted > 0;
}

/** Counts functions that reporters can call and that do more than read. */
export async function countHarmfulFunctions(sql: Sql): Promise<number> {
  const { functions } = one(
    await sql<{ functions: number }[]>`
      -- all organizations
      select count(*)::int as functions
      from harmful_functions()
      where exists (select from reporters)`,
  );
  return functions;
}

export function reporterUrl(databaseUrl: string, role: string, password: string): string {
  const url = new URL(listUrls(databaseUrl)[0]!);
  url.username = role;
  url.password = password;
  return url.href;
}

const insufficientPrivilege = '42501';

function describeError(error: unknown, name: string): Refusal | undefined {
  if (violates(error, 'reporters_belong_to_organization')) return notFound('organization');
  if (violates(error, 'reporters_one_per_name')) {
    return new Refusal('conflict', `a reporter named ${name} already exists`);
  }
  if ((error as { code?: string }).code !== insufficientPrivilege) return undefined;
  return new Refusal(
    'forbidden',
    'the role in DATABASE_URL may not create roles: a Postgres administrator can allow it with ALTER ROLE ... CREATEROLE',
  );
}

type ReporterRow = { org_id: string; name: string; role_name: string; created_at: Date };

/** A restored backup has no roles, so its reporters are not usable. */
export async function listReporters(sql: Sql) {
  return await sql<(ReporterRow & { organization: string; usable: boolean })[]>`
    -- all organizations
    select p.org_id, o.name as organization, p.name, p.role_name, p.created_at,
           exists (select from pg_roles where rolname = p.role_name) as usable
    from reporters p
    join organizations o on o.id = p.org_id
    order by p.created_at desc, p.name`;
}
