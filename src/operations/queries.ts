import { one, type Sql } from '../lib/db/db.ts';

export const extensionsNeeded = ['btree_gin', 'pg_trgm'];

export type ServerFacts = {
  version: string;
  /** `server_version_num`, such as 180006 for 18.6. */
  number: number;
  major: number;
  now: Date;
  extensions: string[];
  read_only: boolean;
  /** False for Turkish locales, which do not lower-case I to i. */
  folds: boolean;
};

export async function findServerFacts(sql: Sql): Promise<ServerFacts> {
  return one(
    await sql<ServerFacts[]>`
      select current_setting('server_version')              as version,
             current_setting('server_version_num')::int      as number,
             current_setting('server_version_num')::int / 10000 as major,
             clock_timestamp()                              as now,
             array(select name::text
                   from pg_available_extensions
                   where name = any(${[...extensionsNeeded]}::text[]))  as extensions,
             pg_is_in_recovery()                            as read_only,
             lower('I') = 'i'                               as folds`,
  );
}

export async function hasOrganizations(sql: Sql): Promise<boolean> {
  const { filled } = one(
    await sql<{ filled: boolean }[]>`select exists (select from organizations) as filled`,
  );
  return filled;
}

const maxSenders = 1000;

/** Lists senders of surveys that are not completed, most used first. A null `orgId` stands for all organizations. */
export async function listSenders(sql: Sql, orgId: string | null): Promise<string[]> {
  const rows = await sql<{ from_email: string }[]>`
    select from_email
    from surveys
    where (${orgId}::uuid is null or org_id = ${orgId}) and status <> 'completed'
    group by from_email
    order by count(*) desc, from_email
    limit ${maxSenders}`;
  return rows.map(({ from_email }) => from_email);
}

/** One sample webhook and the number of webhooks for each key that encrypts secrets. */
export async function listSealedSamples(sql: Sql, keyIdBytes: number) {
  return await sql<{ org_id: string; id: string; secret: Buffer; webhooks: number }[]>`
    -- all organizations
    select distinct on (key_id) org_id, id, secret, (count(*) over (partition by key_id))::int as webhooks
    from (
      select org_id, id, secret, substring(secret from 1 for ${keyIdBytes}) as key_id
      from webhooks
    ) sealed
    order by key_id`;
}
