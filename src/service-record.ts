import type { Sql } from './lib/db/db.ts';

/** What a running service tells the command line about itself. */
export type ServiceRecord = { public_url: string; updated_at: Date };

export async function writeServiceRecord(sql: Sql, publicUrl: string) {
  await sql`
    insert into service_record (public_url)
    values (${publicUrl})
    on conflict (only_one) do update
      set public_url = excluded.public_url,
          updated_at = now()`;
}

export async function readServiceRecord(sql: Sql): Promise<ServiceRecord | undefined> {
  const [row] = await sql<ServiceRecord[]>`select public_url, updated_at from service_record`;
  return row;
}
