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

/** Whether a Postgres answers at this address now. */
export async function isAnswering(url: string): Promise<boolean> {
  const db = connect(url, { connections: 1 });
  const asked = db`select 1`.then(
    () => true,
    () => false,
  );
  return await asked.finally(() => db.end({ timeout: 0 }));
}
