import { type Db, one, type Sql } from './db.ts';
import { type PartitionedTable, type Stretch, stretchNamed } from './partition-stretches.ts';
import { inTransaction } from './transaction.ts';

const turnTimeout = '1s';
/** Other statements wait behind a change that waits for a lock: it gives up soon and is tried again. */
const lockTimeout = '100ms';
/** Rows that must leave the default partition first: a change that takes longer is undone. */
const statementTimeout = '2s';
/** Finding the rows that stay of a partition that goes. */
const keepTimeout = '60s';

/** Partitions of a table but for the default one, oldest first. */
export async function listPartitions(sql: Sql, divided: PartitionedTable): Promise<Stretch[]> {
  const { names } = await partitionsNow(sql, [divided]);
  return names.flatMap((name) => stretchNamed(divided, name) ?? []);
}

/** The names of all partitions of some tables, in their order, and the time of the database. */
export async function partitionsNow(sql: Sql, tables: readonly PartitionedTable[]) {
  return one(
    await sql<{ now: Date; names: string[] }[]>`
      select clock_timestamp() as now,
             array(
               select c.relname::text
               from pg_inherits i
               join pg_class c on c.oid = i.inhrelid
               where i.inhparent = any (${tables.map(({ table }) => table)}::text[]::regclass[])
               order by c.relname
             ) as names`,
  );
}

/**
 * Adds partitions in a transaction of the caller that nothing else waits for, as in a database that is being filled.
 */
export async function addPartitions(
  tx: Sql,
  divided: PartitionedTable,
  stretches: readonly Stretch[],
) {
  const present = new Set((await listPartitions(tx, divided)).map(({ name }) => name));
  for (const stretch of stretches) {
    if (!present.has(stretch.name)) await addPartition(tx, divided, stretch);
  }
}

/** True when it is made; false when another process has done it. */
export async function makePartition(db: Db, divided: PartitionedTable, stretch: Stretch) {
  return await inTransaction(db, async (tx) => {
    await beginChange(tx, divided);
    if (await exists(tx, stretch.name)) return false;
    await addPartition(tx, divided, stretch);
    return true;
  });
}

/**
 * Attaching takes no lock that an insert or a read of another partition waits for, unlike `create table ... partition
 * of`; but the default partition is locked, and what foreign keys refer to is locked against writes. These locks are
 * taken first and in the order of foreign keys: parents before children, as deleting takes them. Rows of the stretch
 * that are in the default partition move, because Postgres refuses the partition otherwise.
 */
async function addPartition(tx: Sql, { table, column, bound }: PartitionedTable, added: Stretch) {
  const { name } = added;
  const from = `${bound}('${added.from.toISOString()}')`;
  const to = `${bound}('${added.to.toISOString()}')`;
  for (const parent of await listReferred(tx, table)) {
    await tx.unsafe(`lock table only "${parent}" in share row exclusive mode`);
  }
  await tx.unsafe(`lock table only "${table}" in share update exclusive mode`);
  await tx.unsafe(`lock table "${table}_default" in access exclusive mode`);
  await tx.unsafe(`create table "${name}" (like "${table}" including all)`);
  const columns = await listWritten(tx, table);
  await tx.unsafe(`
    with moved as (
      delete from "${table}_default" where ${column} >= ${from} and ${column} < ${to} returning *
    )
    insert into "${name}" (${columns}) select ${columns} from moved`);
  await tx.unsafe(`
    alter table "${table}" attach partition "${name}" for values from (${from}) to (${to})`);
}

/** In one transaction, so that no process that dies leaves a table between attached and gone. */
export async function dropPartition(db: Db, divided: PartitionedTable, { name }: Stretch) {
  return await inTransaction(db, async (tx) => {
    await beginChange(tx, divided);
    if (!(await exists(tx, name))) return false;
    const kept = await takeKept(tx, divided, name);
    await tx.unsafe(`drop table "${name}"`);
    if (kept) await putBack(tx, divided, kept);
    return true;
  });
}

/** Takes its time, since only writes to the partition wait for it. */
async function takeKept(tx: Sql, { table, keep }: PartitionedTable, partition: string) {
  if (!keep) return undefined;
  const kept = `kept_of_${table}`;
  await tx`select set_config('statement_timeout', ${keepTimeout}, true)`;
  await tx.unsafe(`lock table "${partition}" in exclusive mode`);
  await tx.unsafe(`create temporary table "${kept}" (like "${table}") on commit drop`);
  await keep(tx, { partition, kept });
  await tx`select set_config('statement_timeout', ${statementTimeout}, true)`;
  return kept;
}

async function putBack(tx: Sql, { table }: PartitionedTable, kept: string) {
  const columns = await listWritten(tx, table);
  await tx.unsafe(`insert into "${table}" (${columns}) select ${columns} from "${kept}"`);
}

/**
 * Waits for its turn among all that change the partitions of a table, then sets the limits of such a change. To pass
 * over what another process is at would leave undone what that one in its turn passes over because of this process.
 */
async function beginChange(tx: Sql, { table }: PartitionedTable) {
  await tx`select set_config('lock_timeout', ${turnTimeout}, true)`;
  await tx`select pg_advisory_xact_lock(hashtext('partitions'), hashtext(${table}))`;
  await tx`
    select set_config('lock_timeout', ${lockTimeout}, true),
           set_config('statement_timeout', ${statementTimeout}, true)`;
}

async function exists(sql: Sql, name: string): Promise<boolean> {
  const found = await sql`select where to_regclass(${name}) is not null`;
  return found.length > 0;
}

async function listReferred(sql: Sql, table: string): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select distinct confrelid::regclass::text as name
    from pg_constraint
    where conrelid = ${table}::regclass and contype = 'f'
    order by 1`;
  return rows.map(({ name }) => name);
}

/** The columns that are written: generated ones follow from them. */
async function listWritten(sql: Sql, table: string): Promise<string> {
  return one(
    await sql<{ columns: string }[]>`
      select string_agg(quote_ident(attname), ', ' order by attnum) as columns
      from pg_attribute
      where attrelid = ${table}::regclass and attnum > 0 and not attisdropped and attgenerated = ''`,
  ).columns;
}

export const timeOf = async (sql: Sql) =>
  one(await sql<{ now: Date }[]>`select clock_timestamp() as now`).now;
