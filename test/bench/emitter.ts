import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from '../../src/lib/db/db.ts';
import { createLog } from '../../src/lib/log/log.ts';
import { createLifecycle } from '../../src/lib/process/lifecycle.ts';
import { loadConfig } from '../../src/settings.ts';
import { emit } from '../../src/webhooks/emit.ts';
import { startWork } from '../../src/work.ts';
import { now } from './clock.ts';
import { serviceConnections } from './database.ts';
import { serviceSettings } from './service.ts';

/**
 * What the service does behind its listeners, and events at a steady rate in the same process, as the answers
 * that it takes would publish them: the next one does not wait for what became of the one before.
 */
export type Emission = {
  url: string;
  orgIds: readonly string[];
  perSecond: number;
  seconds: number;
};

/** When an event was due, and when its commit was known. */
export type EmittedEvent = { dueAt: number; committedAt: number };

process.once('message', async (emission: Emission) => {
  const log = createLog({ level: 'error' });
  const parts = createLifecycle(log);
  const config = loadConfig(serviceSettings(emission.url), () => '');
  const db = connect(emission.url, { connections: serviceConnections });
  const close = () => db.end();
  const sessions = { db, url: emission.url };
  const database = {
    db,
    requestDb: db,
    pool: () => ({ limit: serviceConnections, busy: 0, waiting: 0 }),
    sessions,
    isApart: false,
    dataDir: '',
    close,
    lost: never,
  };
  await startWork({
    config,
    log,
    parts,
    database,
    publicUrl: 'http://ask.test',
    say: () => {},
  });
  process.send?.(
    await emitSteadily(emission, async (orgId, number) => {
      const body = JSON.stringify({ version: '1', number, filler: 'x'.repeat(200) });
      await emit(db, { orgId, events: [{ type: 'response.received', body }] });
      const committedAt = now();
      return committedAt;
    }),
  );
  process.once('message', async () => {
    await parts.stop();
    await db.end();
    process.disconnect?.();
  });
});

const never = new Promise<never>(() => {});

type Publish = (orgId: string, number: number) => Promise<number>;

async function emitSteadily({ orgIds, perSecond, seconds }: Emission, publish: Publish) {
  const emissions: Promise<EmittedEvent>[] = [];
  const begunAt = now();
  for (let number = 0; number < perSecond * seconds; number += 1) {
    const dueAt = begunAt + (number * 1000) / perSecond;
    const wait = dueAt - now();
    if (wait > 0) await sleep(wait);
    const committed = publish(orgIds[number % orgIds.length]!, number);
    emissions.push(committed.then((committedAt) => ({ dueAt, committedAt })));
  }
  return await Promise.all(emissions);
}
