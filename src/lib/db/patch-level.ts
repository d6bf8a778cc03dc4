import { one, type Sql } from './db.ts';

/**
 * Older minor versions have vulnerabilities that an unprivileged role, such as a reporter, can use. For example,
 * CVE-2026-14669 lets a select crash the server. Raise these numbers with each security release of PostgreSQL.
 */
const safeMinors: Readonly<Record<number, number>> = { 15: 19, 16: 15, 17: 11, 18: 6 };

export async function warnOfPatchLevel(sql: Sql): Promise<string | undefined> {
  const { number } = one(
    await sql<{ number: number }[]>`select current_setting('server_version_num')::int as number`,
  );
  return judgePatchLevel(number);
}

/** Takes `server_version_num`, such as 180004 for 18.4. */
export function judgePatchLevel(number: number): string | undefined {
  const [major, minor] = [Math.floor(number / 10_000), number % 10_000];
  const safe = safeMinors[major];
  if (safe === undefined || minor >= safe) return undefined;
  return `PostgreSQL ${major}.${minor} has vulnerabilities that ${major}.${safe} fixes: see Updates of Postgres in ops/install.md`;
}
