import type { Sql } from '../../src/lib/db/db.ts';
import { one } from '../../src/lib/db/db.ts';

/** Bytes, of all rows. */
export type Storage = {
  database: number;
  responses: number;
  contacts: number;
  tallies: number;
  /** Of the responses, the largest first. */
  indexes: { name: string; bytes: number }[];
};

export async function storageOf(sql: Sql): Promise<Storage> {
  const sizes = one(
    await sql<Omit<Storage, 'indexes'>[]>`
      select pg_database_size(current_database())::float8 as database,
             pg_table_size('responses')::float8 as responses,
             pg_total_relation_size('contacts')::float8 as contacts,
             (pg_total_relation_size('survey_tallies') + pg_total_relation_size('day_tallies')
               + pg_total_relation_size('organization_day_tallies'))::float8 as tallies`,
  );
  const indexes = await sql<Storage['indexes']>`
    select indexname as name, pg_relation_size(indexname::regclass)::float8 as bytes
    from pg_indexes
    where tablename = 'responses'
    order by bytes desc, name`;
  return { ...sizes, indexes };
}
