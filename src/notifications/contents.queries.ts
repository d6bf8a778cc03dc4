import type { Sql } from '../lib/db/db.ts';
import type { NotificationContents } from './facts.queries.ts';

export async function findContents(sql: Sql, orgId: string): Promise<NotificationContents> {
  const [row] = await sql<NotificationContents[]>`
    select people, unedited from notification_contents where org_id = ${orgId}`;
  return row ?? { people: false, unedited: false };
}

export async function saveContents(
  sql: Sql,
  orgId: string,
  { people, unedited }: NotificationContents,
) {
  await sql`
    insert into notification_contents (org_id, people, unedited)
    values (${orgId}, ${people}, ${unedited})
    on conflict (org_id) do update set people = excluded.people, unedited = excluded.unedited`;
}
