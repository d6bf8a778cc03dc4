import { one, type Sql } from '../lib/db/db.ts';
import { extensionsNeeded } from './rules.ts';

export type ServerFacts = {
  version: string;
  major: number;
  now: Date;
  extensions: string[];
  read_only: boolean;
  /** Whether a capital I becomes a small i. */
  folds: boolean;
};

export async function findServerFacts(sql: Sql): Promise<ServerFacts> {
  return one(
    await sql<ServerFacts[]>`
      select current_setting('server_version')              as version,
             current_setting('server_version_num')::int / 10000 as major,
             clock_timestamp()                              as now,
             array(select name::text
                   from pg_available_extensions
                   where name = any(${[...extensionsNeeded]}::text[]))  as extensions,
             pg_is_in_recovery()                            as read_only,
             lower('I') = 'i'                               as folds`,
  );
}

/** Whether the database holds more than an empty schema. */
export async function hasOrganizations(sql: Sql): Promise<boolean> {
  const { filled } = one(
    await sql<{ filled: boolean }[]>`select exists (select from organizations) as filled`,
  );
  return filled;
}
