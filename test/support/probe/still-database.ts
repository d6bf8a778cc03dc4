import { after } from 'node:test';
import { connect, type Db } from '../../../src/lib/db/db.ts';
import { testDatabase } from './database.ts';

/**
 * A migrated, empty database in which it is always the same moment, and in which the ids that it makes are counted: what
 * is made of it twice is the same. Functions of these names are found before those of Postgres, and what columns are
 * filled with calls them too.
 */
export async function stillDatabase(at: Date): Promise<{ db: Db; url: string }> {
  const { url } = await testDatabase();
  const first = connect(url, { connections: 1 });
  await first.unsafe(stopped(at));
  const name = new URL(url).pathname.slice(1);
  await first`alter database ${first(name)} set search_path = still, pg_catalog, public`;
  await first.end();
  const still = connect(url, { connections: 4 });
  await still.unsafe(sayAgain);
  after(() => still.end({ timeout: 1 }));
  return { db: still, url };
}

const stopped = (at: Date) => `
  create schema still;
  create function still.now() returns timestamptz language sql stable parallel safe
    as $$ select timestamptz '${at.toISOString()}' $$;
  create function still.clock_timestamp() returns timestamptz language sql stable parallel safe
    as $$ select timestamptz '${at.toISOString()}' $$;
  create sequence still.ids;
  create function still.gen_random_uuid() returns uuid language sql volatile
    as $$ select ('00000000-0000-4000-8000-' || lpad(to_hex(nextval('still.ids')), 12, '0'))::uuid $$;`;

/** The defaults of columns, read and said once more, so that they mean the functions above. */
const sayAgain = `
  do $$
  declare filled record;
  begin
    for filled in
      select d.adrelid::regclass as table_name, a.attname, pg_get_expr(d.adbin, d.adrelid) as expression
      from pg_attrdef d
      join pg_attribute a on a.attrelid = d.adrelid and a.attnum = d.adnum
      join pg_class c on c.oid = d.adrelid
      where c.relnamespace = 'public'::regnamespace and a.attgenerated = ''
        and pg_get_expr(d.adbin, d.adrelid) ~ '(now|clock_timestamp|gen_random_uuid)\\(\\)'
    loop
      execute format('alter table %s alter column %I set default %s', filled.table_name, filled.attname,
                     replace(filled.expression, 'pg_catalog.', ''));
    end loop;
  end $$;`;
