import type { Sql } from '../lib/db/db.ts';

type Old = { days: number; atMost: number };

/** Answers do not need them any more: what was held or counted says so itself. */
export async function deleteOldOpenings(sql: Sql, { days, atMost }: Old): Promise<number> {
  const { count } = await sql`
    delete from link_visits
    where id in (
      select id
      from link_visits
      where visited_at < now() - make_interval(days => ${days})
      order by visited_at
      limit ${atMost}
      for update skip locked
    )`;
  return count;
}
