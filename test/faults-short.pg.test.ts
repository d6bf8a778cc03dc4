import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runDeliveryFaults } from './faults/delivery-faults.ts';
import { testDatabase } from './support/probe/database.ts';

const { url } = await testDatabase();

/** A small one of `make faults`: no Postgres is restarted, for others use it. */
test('while processes are killed and connections ended no event is lost or invented', async () => {
  const ledger = await runDeliveryFaults(
    { url },
    {
      title: 'short',
      answers: 600,
      perSecond: 100,
      processes: 2,
      faults: [
        { kind: 'kill', everyMs: 1500 },
        { kind: 'ended backend', everyMs: 500 },
      ],
    },
  );

  const { committed, acknowledged_but_lost, missing, invented, undelivered } = ledger;
  assert.deepEqual(
    { committed, acknowledged_but_lost, missing, invented, undelivered },
    { committed: 600, acknowledged_but_lost: 0, missing: 0, invented: 0, undelivered: 0 },
  );
  assert.ok(ledger.duplicates <= ledger.in_flight_at_faults);
  assert.deepEqual(ledger.ended_by_themselves, []);
  assert.ok((ledger.faults['kill'] ?? 0) > 0 && (ledger.faults['ended backend'] ?? 0) > 0);
});
