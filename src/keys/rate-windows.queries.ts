import { one, type Sql } from '../lib/db/db.ts';

/** What a subject has used of its clock minute. */
export type RateCount = {
  /** Requests of this subject in the current clock minute, this one included. */
  used: number;
  /** Until the next clock minute, by the database's clock. */
  resets_in_seconds: number;
};

/** Counts a request of anything that has a limit a minute, by a name of its own. */
export async function countSubject(sql: Sql, subject: string): Promise<RateCount> {
  return one(
    await sql<RateCount[]>`
      insert into rate_windows as w (subject, minute, count)
      values (${subject}, date_trunc('minute', now()), 1)
      ${countOneMore(sql)}`,
  );
}

/**
 * A statement that waited for the row since the last minute finds a newer window in it, and counts there:
 * a window never goes back.
 */
export const countOneMore = (sql: Sql) => sql`
  on conflict (subject) do update
    set count = case when w.minute >= excluded.minute then w.count + 1 else 1 end,
        minute = greatest(w.minute, excluded.minute)
  returning count as used,
            ceil(extract(epoch from minute + interval '1 minute' - now()))::int as resets_in_seconds`;

/** A window counts for its own minute only; the rest is room for clocks that differ. */
export async function deleteOldRateWindows(sql: Sql, limit: number): Promise<number> {
  const { count } = await sql`
    delete from rate_windows
    where subject in (
      select subject
      from rate_windows
      where minute < now() - interval '5 minutes'
      limit ${limit}
      for update skip locked
    )`;
  return count;
}
