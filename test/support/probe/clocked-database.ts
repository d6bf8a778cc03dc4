import { after } from 'node:test';
import { connect } from '../../../src/lib/db/db.ts';
import { testDatabase } from './database.ts';

/** A database whose `now()` is a clock that the test sets. Ids still begin with the machine's time. */
export async function clockedDatabase(at: Date) {
  const { db: plain, url } = await testDatabase();
  await plain.unsafe(`
    create schema clock;
    create table clock.hand (at timestamptz not null);
    insert into clock.hand values (now());
    create function clock.now() returns timestamptz language sql stable return (select at from clock.hand);
    do $$
    declare
      place record;
    begin
      for place in
        select table_name, column_name, column_default from information_schema.columns
        where table_schema = 'public' and column_default like '%now()%'
      loop
        execute format('alter table %I alter column %I set default %s', place.table_name, place.column_name,
                       replace(place.column_default, 'now()', 'clock.now()'));
      end loop;
      execute format('alter database %I set search_path = clock, pg_catalog, public', current_database());
    end
    $$`);
  const db = connect(url, { connections: 8 });
  after(() => db.end({ timeout: 1 }));
  const set = async (now: Date) => {
    await db`update clock.hand set at = ${now}`;
  };
  await set(at);
  return { db, url, set };
}
