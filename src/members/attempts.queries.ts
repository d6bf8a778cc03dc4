import type { Sql } from '../lib/db/db.ts';

/** What attempts are counted by: `perDay` in days of UTC, else over the last 15 minutes at any moment. */
export type CountedSubject = { subject: string; perDay: boolean };

export type CountedAttempts = { attempts: number; resets_in_seconds: number };

const window = '15 minutes';

/**
 * How many attempts of subjects count now, in their order, locked until the transaction ends. They are locked in that
 * order, so all callers must name them in the same one. The clock decides, and not the start of the transaction, which
 * may have waited for the lock.
 */
export async function lockAttempts(
  sql: Sql,
  subjects: readonly CountedSubject[],
): Promise<CountedAttempts[]> {
  const counted: CountedAttempts[] = [];
  for (const { subject, perDay } of subjects) {
    const [since, length] = perDay ? [startOfDay(sql), '1 day'] : [startOfWindow(sql), window];
    const oldest = perDay ? since : sql`coalesce(tried_at[1], clock_timestamp())`;
    const [row] = await sql<CountedAttempts[]>`
      insert into proof_attempts as p (subject, newest_at)
      values (${subject}, clock_timestamp())
      on conflict (subject) do update
        set tried_at = array(select t from unnest(p.tried_at) t where t > ${since} order by t),
            newest_at = excluded.newest_at
      returning cardinality(tried_at) as attempts,
                greatest(1, ceil(extract(epoch from ${oldest} + ${length}::interval - clock_timestamp())))::int
                  as resets_in_seconds`;
    counted.push(row!);
  }
  return counted;
}

const startOfDay = (sql: Sql) =>
  sql`date_trunc('day', clock_timestamp() at time zone 'UTC') at time zone 'UTC'`;

const startOfWindow = (sql: Sql) => sql`clock_timestamp() - ${window}::interval`;

export async function addAttempt(sql: Sql, subjects: readonly string[]) {
  await sql`
    update proof_attempts
    set tried_at = tried_at || clock_timestamp()
    where subject = any(${subjects as string[]})`;
}

/** Gives an attempt back that turned out to be right: the newest, so that those that remain count no shorter. */
export async function giveBackAttempt(sql: Sql, subjects: readonly string[]) {
  await sql`
    update proof_attempts p
    set tried_at = trim_array(p.tried_at, 1)
    from (
      select subject
      from proof_attempts
      where subject = any(${subjects as string[]}) and cardinality(tried_at) > 0
      order by array_position(${subjects as string[]}, subject)
      for update
    ) own
    where p.subject = own.subject`;
}

/** An attempt counts for a day at most; the rest is room for clocks that differ. */
export async function deleteOldAttempts(sql: Sql, limit: number): Promise<number> {
  const { count } = await sql`
    delete from proof_attempts
    where subject in (
      select subject
      from proof_attempts
      where newest_at < now() - interval '2 days'
      limit ${limit}
      for update skip locked
    )`;
  return count;
}
