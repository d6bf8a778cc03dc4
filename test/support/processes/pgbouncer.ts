import { execFileSync } from 'node:child_process';

/** Debian's PgBouncer, or the program in PGBOUNCER. */
export const pgbouncer = process.env['PGBOUNCER'] ?? 'pgbouncer';

const versionWithPrepared = 1.21;
const environment = { ...process.env, PATH: `${process.env['PATH']}:/usr/sbin` };

/** The version of PgBouncer, such as 1.18. Undefined if it is not installed. */
export function pgbouncerVersion(): string | undefined {
  try {
    const printed = execFileSync(pgbouncer, ['--version'], { encoding: 'utf8', env: environment });
    return /PgBouncer (\d+\.\d+)/.exec(printed)?.[1];
  } catch {
    return undefined;
  }
}

/** PgBouncer supports prepared statements in transaction mode since 1.21. */
export const canCarryPrepared = (): boolean => Number(pgbouncerVersion()) >= versionWithPrepared;

/** Older versions refuse to start with an unknown setting. */
export const preparedSettings = (): string[] =>
  canCarryPrepared() ? ['max_prepared_statements = 200'] : [];
