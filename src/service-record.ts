import type { Sql } from './lib/db/db.ts';
import { httpAddress } from './lib/http/http-address.ts';
import type { Config } from './settings/config.ts';

/** What the running service writes down for the command line. */
export type ServiceRecord = { public_url: string; updated_at: Date };

export async function writeServiceRecord(sql: Sql, publicUrl: string) {
  await sql`
    insert into service_record (public_url)
    values (${publicUrl})
    on conflict (is_singleton) do update
      set public_url = excluded.public_url,
          updated_at = now()`;
}

export async function readServiceRecord(sql: Sql): Promise<ServiceRecord | undefined> {
  const [row] = await sql<ServiceRecord[]>`select public_url, updated_at from service_record`;
  return row;
}

/** What links begin with: the setting, else the address in the service record, else HOST and PORT. */
export async function publicUrlOf(sql: Sql, config: Config): Promise<string | null> {
  if (config.publicUrl) return config.publicUrl;
  const record = await readServiceRecord(sql);
  if (record) return record.public_url;
  return config.port === 0 ? null : httpAddress(config.host, config.port);
}
