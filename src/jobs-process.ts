import type { CommandTools } from './command-tools.ts';
import { one, type Sql } from './lib/db/db.ts';

/** Whether a process runs jobs. The row of one that was killed stays until another one sweeps; its lock does not. */
export async function hasJobsProcess(sql: Sql): Promise<boolean> {
  const { held } = one(
    await sql<{ held: boolean }[]>`
      select exists (
        select
        from worker_pools
        join pg_locks on classid::bigint << 32 | objid::bigint = lock_key
        where locktype = 'advisory'
          and objsubid = 1
          and granted
          and database = (select oid from pg_database where datname = current_database())
      ) as held`,
  );
  return held;
}

/** A command that leaves its work to the service says at once when there is none. */
export async function warnWithoutJobs({ say }: Pick<CommandTools, 'say'>, sql: Sql, then: string) {
  if (await hasJobsProcess(sql)) return;
  say(`the service does not run on this database: ${then}`);
}
