import type { Sql } from '../lib/db/db.ts';

/** What attempts are counted by: `perDay` in days of UTC, else in windows that begin with the first attempt. */
export type CountedSubject = { subject: string; perDay: boolean };

export type CountedAttempts = { attempts: number; resets_in_seconds: number };

const window = '15 minutes';

/**
 * What subjects have used of their window, in their order, locked until the transaction ends. They are locked in that
 * order, so all callers must name them in the same one. What is left counts from now on: another transaction that
 * began later may have opened the window.
 */
export async function lockAttempts(
  sql: Sql,
  subjects: readonly CountedSubject[],
): Promise<CountedAttempts[]> {
  const counted: CountedAttempts[] = [];
  for (const { subject, perDay } of subjects) {
    const [row] = await sql<CountedAttempts[]>`
      insert into proof_attempts as p (subject, starts_at, attempts)
      values (${subject}, ${perDay ? startOfDay(sql) : sql`now()`}, 0)
      on conflict (subject) do update
        set starts_at = case when ${isOver(sql, perDay)} then excluded.starts_at else p.starts_at end,
            attempts = case when ${isOver(sql, perDay)} then 0 else p.attempts end
      returning attempts,
                greatest(1, ceil(extract(epoch from ${endOf(sql, perDay)} - clock_timestamp())))::int as resets_in_seconds`;
    counted.push(row!);
  }
  return counted;
}

const startOfDay = (sql: Sql) =>
  sql`date_trunc('day', now() at time zone 'UTC') at time zone 'UTC'`;

const endOf = (sql: Sql, perDay: boolean) =>
  perDay ? sql`p.starts_at + interval '1 day'` : sql`p.starts_at + ${window}::interval`;

const isOver = (sql: Sql, perDay: boolean) => sql`${endOf(sql, perDay)} <= now()`;

export async function addAttempt(sql: Sql, subjects: readonly string[]) {
  await sql`
    update proof_attempts set attempts = attempts + 1 where subject = any(${subjects as string[]})`;
}

/** Gives an attempt back that turned out to be right. */
export async function giveBackAttempt(sql: Sql, subjects: readonly string[]) {
  await sql`
    update proof_attempts p
    set attempts = p.attempts - 1
    from (
      select subject
      from proof_attempts
      where subject = any(${subjects as string[]}) and attempts > 0
      order by array_position(${subjects as string[]}, subject)
      for update
    ) own
    where p.subject = own.subject`;
}

/** A window counts for a day at most; the rest is room for clocks that differ. */
export async function deleteOldAttempts(sql: Sql, limit: number): Promise<number> {
  const { count } = await sql`
    delete from proof_attempts
    where subject in (
      select subject
      from proof_attempts
      where starts_at < now() - interval '2 days'
      limit ${limit}
      for update skip locked
    )`;
  return count;
}
