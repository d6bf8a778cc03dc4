import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testDatabase } from '../../support/probe/database.ts';

const { db } = await testDatabase();

/** They mean the same in every table. */
const evident = ['id', 'created_at', 'updated_at'];
/** Made by the migrator itself, before any migration. */
const migrators = 'schema_migrations';

test('every table says what a row of it is', async () => {
  const silent = await db<{ name: string }[]>`
    select relname as name
    from pg_class
    where relnamespace = 'public'::regnamespace and relkind = 'r' and relname <> ${migrators}
      and obj_description(oid, 'pg_class') is null`;
  assert.deepEqual([...silent], []);
});

test('every column says what it holds, but ids and the times of the row', async () => {
  const silent = await db<{ name: string }[]>`
    select c.relname || '.' || a.attname as name
    from pg_class c
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and c.relname <> ${migrators}
      and a.attname <> all (${evident})
      and not exists (
        select from pg_constraint k
        where k.conrelid = c.oid and k.contype = 'f' and a.attnum = any (k.conkey)
      )
      and col_description(c.oid, a.attnum) is null`;
  assert.deepEqual([...silent], []);
});
