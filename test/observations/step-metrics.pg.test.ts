import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { listSteps } from '../../src/lib/db/migrate-step-state.ts';
import { closeGate, isWaitingAtGate, leave, stepTable, work } from '../support/make/step-table.ts';
import { scrape } from '../support/probe/scrape.ts';
import { until } from '../support/probe/until.ts';
import { addressIn, secretKey, startService } from '../support/processes/program.ts';

const nothing = { pending: 0, done: 0, estimated: 0, failures: 0 };
const begun = { pending: 1, estimated: 300 };

test('metrics of a step show its progress, its failures, and nothing after its end', async () => {
  const { db, url, steps } = await stepTable();
  await db`alter table things add constraint things_touched_have_no_note check (touched = 0 or note is null)`;
  await db`update things set note = 'a note' where id = 200`;
  const service = startService({
    DATABASE_URL: url,
    ASKBACK_SECRET_KEY: secretKey,
    PORT: '0',
  });
  const address = addressIn(await service.ready());
  const shown = async () => stepMetrics(await scrape(address));
  const shows = async (wanted: typeof nothing) => isDeepStrictEqual(await shown(), wanted);
  await until('the steps of the service have ended', () => shows(nothing));

  await leave(db, steps);
  await until('the step is pending', () => shows({ ...nothing, pending: 1 }));

  const open = await closeGate(db, url, 100);
  const worker = work(url, steps);
  after(() => worker.stop());
  await until('it is in the middle', () => isWaitingAtGate(db));
  await until('its progress is shown', async () => {
    // A batch that waits too long at the gate fails, and is begun again.
    const { done, failures: _, ...others } = await shown();
    return done > 0 && done < 100 && isDeepStrictEqual(others, begun);
  });

  await open();
  await until('its failures are shown', async () => {
    const { done, failures, ...others } = await shown();
    return failures > 1 && done > 100 && done < 200 && isDeepStrictEqual(others, begun);
  });

  await db`update things set note = null`;
  await worker.ended;
  assert.ok((await listSteps(db)).every(({ ended_at }) => ended_at !== null));
  await until('nothing is shown of it', () => shows(nothing));
  assert.equal(await service.stop(), 0);
});

function stepMetrics({ value }: Awaited<ReturnType<typeof scrape>>) {
  const rows = (state: string) => value('askback_migration_step_rows', { state }) ?? Number.NaN;
  return {
    pending: value('askback_migration_step_pending'),
    done: rows('done'),
    estimated: rows('estimated'),
    failures: value('askback_migration_step_failures') ?? Number.NaN,
  };
}
