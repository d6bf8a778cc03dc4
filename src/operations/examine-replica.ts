import { setTimeout as sleep } from 'node:timers/promises';
import { type Db, serviceLimits } from '../lib/db/db.ts';
import { followReplica } from '../lib/db/replica.ts';
import { explain } from '../lib/db/startup-errors.ts';
import type { Config } from '../settings/config.ts';
import { type Finding, finding } from './finding.ts';
import { judgeReplica } from './rules.ts';

/** A replica that follows is seen to do so within a few looks. */
const patienceMs = 2000;
const lookEveryMs = 50;

/** Whether the service would read from the replica that is configured. */
export async function examineReplica(
  { readDatabaseUrl: url, readMaxLagSeconds: maxLagSeconds }: Config,
  primary: Db,
): Promise<Finding[]> {
  if (!url) return [];
  const options = { connections: 1, maxLagSeconds, limits: serviceLimits, program: 'askback' };
  try {
    const replica = await followReplica({ ...options, url, primary });
    const late = performance.now() + patienceMs;
    while (!replica.isUsable() && performance.now() < late) await sleep(lookEveryMs);
    const found = judgeReplica(replica.problem());
    await replica.stop();
    return [found];
  } catch (error) {
    return [finding('replica', 'fail', explain(error))];
  }
}
