import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from '../../src/lib/db/db.ts';

const minuteMs = 60_000;
const lookEveryMs = 20;

export async function until(
  what: string,
  check: () => Promise<boolean>,
  patienceMs: number = minuteMs,
) {
  const late = performance.now() + patienceMs;
  while (!(await check())) {
    if (performance.now() > late) throw new Error(`waited in vain until ${what}`);
    await sleep(lookEveryMs);
  }
}

/** True if Postgres responds at this address. */
export const isAnswering = async (url: string): Promise<boolean> => (await roleAt(url)) !== null;

/** True if as many connections as there are members all reach the primary. */
export async function leadsOnlyToPrimary(url: string, members: number): Promise<boolean> {
  for (let asked = 0; asked < members; asked += 1) {
    if ((await roleAt(url)) !== 'primary') return false;
  }
  return true;
}

async function roleAt(url: string): Promise<'primary' | 'standby' | null> {
  const db = connect(url, { connections: 1 });
  const asked = db<{ waits: boolean }[]>`select pg_is_in_recovery() as waits`.then(
    ([row]) => (row?.waits ? 'standby' : 'primary'),
    () => null,
  );
  return await asked.finally(() => db.end({ timeout: 0 }));
}
