import type { TestContext } from 'node:test';
import type { Db } from '../../../src/lib/db/db.ts';

type Refused = { table: string; acts: 'update' | 'update or delete' };

/**
 * Makes Postgres reject these writes to a table with the error `not now`, until the returned function is called or the
 * test ends.
 */
export async function refuseWrites(db: Db, t: TestContext, { table, acts }: Refused) {
  await db.unsafe(`
    create function refuse_writes() returns trigger language plpgsql as $$
    begin
      raise exception 'not now';
    end $$;
    create trigger refuse_writes before ${acts} on ${table}
    for each row execute function refuse_writes()`);
  const allow = () => db`drop function if exists refuse_writes cascade`;
  t.after(allow);
  return allow;
}
