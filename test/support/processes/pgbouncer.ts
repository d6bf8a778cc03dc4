import { execFileSync } from 'node:child_process';

/** Debian's, or the program that PGBOUNCER names. */
export const pgbouncer = process.env['PGBOUNCER'] ?? 'pgbouncer';

const versionWithPrepared = 1.21;
const environment = { ...process.env, PATH: `${process.env['PATH']}:/usr/sbin` };

/** The version of PgBouncer, as 1.18; undefined where it is not installed. */
export function pgbouncerVersion(): string | undefined {
  try {
    const printed = execFileSync(pgbouncer, ['--version'], { encoding: 'utf8', env: environment });
    return /PgBouncer (\d+\.\d+)/.exec(printed)?.[1];
  } catch {
    return undefined;
  }
}

/** Whether it can carry prepared statements in transaction mode: 1.21 and newer can. */
export const canCarryPrepared = (): boolean => Number(pgbouncerVersion()) >= versionWithPrepared;

/** The lines of its settings with which it carries them; older ones refuse to start with a setting that they do not know. */
export const preparedSettings = (): string[] =>
  canCarryPrepared() ? ['max_prepared_statements = 200'] : [];
