import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attempted, deactivated } from '../../src/signals.ts';
import type { AttemptOutcome } from '../../src/webhooks/deliver.ts';
import { type ClaimedDelivery, claimDue } from '../../src/webhooks/delivery.queries.ts';
import { createRecorder, record } from '../../src/webhooks/record.ts';
import { judge } from '../../src/webhooks/rules.ts';
import { answerOf } from '../support/fakes/subscriber.ts';
import { makeBacklog, makePool } from '../support/make/deliveries.ts';
import { testDatabase } from '../support/probe/database.ts';
import { keptLog } from '../support/probe/log.ts';

const { db } = await testDatabase();

const traceOf = (n: number) => `00-${String(n).repeat(32)}-${String(n).repeat(16)}-01`;

/** `status` is null without a response; `last` means the last attempt instead of the first. */
type Answered = { status: number | null; last?: boolean };

type Case = {
  answered: Answered[];
  active?: boolean;
  failures?: number;
  expected: {
    webhook: { active: boolean; failure_count: number; reason: string | null; touched: boolean };
    queued: { task: string; trace: string; later: boolean }[];
    signals: string[];
    deactivated: number;
    acts: unknown[];
  };
};

const off = '3 deliveries in a row failed (last error: status 500)';
const nothing = { queued: [], deactivated: 0, acts: [] };
const deliver = (n: number, later: boolean) => ({
  task: 'webhooks.deliver',
  trace: traceOf(n),
  later,
});

const cases: Record<string, Case> = {
  'a delivery': {
    answered: [{ status: 200 }],
    failures: 2,
    expected: {
      ...nothing,
      webhook: { active: true, failure_count: 0, reason: null, touched: true },
      signals: ['delivered'],
    },
  },
  'a failed first attempt': {
    answered: [{ status: 500 }],
    failures: 1,
    expected: {
      ...nothing,
      webhook: { active: true, failure_count: 1, reason: null, touched: true },
      queued: [deliver(1, true)],
      signals: ['retry'],
    },
  },
  'a failed first attempt of an inactive webhook': {
    answered: [{ status: 500 }],
    active: false,
    expected: {
      ...nothing,
      webhook: { active: false, failure_count: 0, reason: 'by hand', touched: true },
      queued: [deliver(1, false), deliver(1, true)],
      signals: ['retry'],
    },
  },
  'a second failure in a row': {
    answered: [{ status: null, last: true }],
    failures: 1,
    expected: {
      ...nothing,
      webhook: { active: true, failure_count: 2, reason: null, touched: true },
      signals: ['failed'],
    },
  },
  'a third failure in a row': {
    answered: [
      { status: null, last: true },
      { status: 500, last: true },
    ],
    failures: 1,
    expected: {
      webhook: { active: false, failure_count: 3, reason: off, touched: true },
      queued: [
        deliver(2, false),
        { task: 'webhooks.notify_deactivated', trace: traceOf(2), later: false },
      ],
      signals: ['failed', 'failed'],
      deactivated: 1,
      acts: [{ act: 'webhook.switched_off', details: { name: 'hooks.test', failures: 3 } }],
    },
  },
  'a third failure in a row of an inactive webhook': {
    answered: [{ status: 500, last: true }],
    active: false,
    failures: 2,
    expected: {
      ...nothing,
      webhook: { active: false, failure_count: 3, reason: 'by hand', touched: true },
      signals: ['failed'],
    },
  },
};

/** A webhook with a claimed delivery and an outcome per answer. */
async function scene({ answered, active = true, failures = 0 }: Omit<Case, 'expected'>) {
  const target = await makeBacklog(db, answered.length);
  const claimed = await claimDue(db, target, {
    by: await makePool(db),
    atMost: 100,
    known: [],
  });
  const outcomes: AttemptOutcome[] = [];
  for (const [n, { status, last = false }] of answered.entries()) {
    const delivery: ClaimedDelivery = { ...claimed[n]!, attempts: last ? 1 : 0 };
    if (last) {
      await db`update pending_deliveries set attempts = 1, next_attempt_at = now() where id = ${delivery.id}`;
    }
    const answer = answerOf(status);
    const { event } = delivery;
    const options = { retries: 'standard', random: 0.5 } as const;
    const verdict = judge({ ...answer, event, number: last ? 2 : 1 }, options);
    outcomes.push({ delivery, answer, verdict, at: new Date(), traceparent: traceOf(n + 1) });
  }
  await db`
    update webhooks
    set active = ${active}, failure_count = ${failures},
        deactivated_reason = ${active ? null : 'by hand'}, deactivated_at = ${active ? null : new Date()}
    where id = ${target.webhook_id}`;
  await db`delete from test.jobs where payload ->> 'webhook_id' = ${target.webhook_id}`;
  return { target, outcomes };
}

type Scene = Awaited<ReturnType<typeof scene>>;

async function recorded({ target, outcomes }: Scene): Promise<Case['expected']> {
  const { webhook_id } = target;
  const signals: string[] = [];
  let off = 0;
  const stops = [
    attempted.subscribe(({ webhookId, outcome }) => {
      if (webhookId === webhook_id) signals.push(outcome);
    }),
    deactivated.subscribe(({ webhookId }) => {
      if (webhookId === webhook_id) off += 1;
    }),
  ];
  await record(db, target, outcomes);
  for (const stop of stops) stop();
  const [webhook] = await db<Case['expected']['webhook'][]>`
    select active, failure_count, deactivated_reason as reason, last_delivery_at is not null as touched
    from webhooks where id = ${webhook_id}`;
  const queued = await db<Case['expected']['queued']>`
    select task, payload ->> '_trace' as trace, run_at > now() as later
    from test.jobs where payload ->> 'webhook_id' = ${webhook_id} order by task, later`;
  const acts = await db<{ act: string; details: object }[]>`
    select act, details from audit_events where target_id = ${webhook_id}`;
  return {
    webhook: { ...webhook! },
    queued: queued.map((row) => ({ ...row })),
    signals,
    deactivated: off,
    acts: acts.map((row) => ({ ...row })),
  };
}

for (const [what, { expected, ...given }] of Object.entries(cases)) {
  test(`records ${what}`, async () => {
    assert.deepEqual(await recorded(await scene(given)), expected);
  });
}

test('recording twice, or for a deleted webhook, has no effect', async () => {
  const again = await scene({ answered: [{ status: 500, last: true }], failures: 1 });
  await recorded(again);
  await db`update webhooks set last_delivery_at = null where id = ${again.target.webhook_id}`;
  const webhook = { active: true, failure_count: 2, reason: null, touched: false };
  assert.deepEqual(await recorded(again), { ...nothing, signals: [], webhook });

  const gone = await scene({ answered: [{ status: 500 }] });
  await db`delete from webhooks where id = ${gone.target.webhook_id}`;
  assert.deepEqual(await recorded(gone), { ...nothing, signals: [], webhook: {} });
});

const stored = (status: number | null) =>
  status === null
    ? { status_code: null, response_body: null, error: 'no answer', number: 1 }
    : { status_code: status, response_body: 'hello', error: null, number: 1 };
for (const status of [500, null]) {
  test(`stores an attempt ${status === null ? 'without' : 'with'} a response`, async () => {
    const { target, outcomes } = await scene({ answered: [{ status }] });
    await record(db, target, outcomes);
    const [row] = await db`
      select status_code, response_body, error, number from delivery_attempts where webhook_id = ${target.webhook_id}`;
    assert.deepEqual({ ...row }, stored(status));
    const [delivery] = await db`
      select status_code, response_body, traceparent from pending_deliveries where webhook_id = ${target.webhook_id}`;
    const { error: _, number: __, ...shown } = stored(status);
    assert.deepEqual({ ...delivery }, { ...shown, traceparent: traceOf(1) });
  });
}

/** Deliveries are recorded in one statement, failures in a transaction per webhook. */
for (const status of [200, 500]) {
  test(`retries recording status ${status} and logs the outage`, async (t) => {
    const { target, outcomes } = await scene({ answered: [{ status }] });
    await db`create sequence tried`;
    await db`
      create function refuse_twice() returns trigger language plpgsql as $$
      begin
        if nextval('tried') <= 2 then raise exception 'not now'; end if;
        return null;
      end $$`;
    await db`
      create trigger refuse_twice before update or delete on pending_deliveries
      for each statement execute function refuse_twice()`;
    t.after(async () => {
      await db`drop function refuse_twice cascade`;
      await db`drop sequence tried`;
    });
    const { lines, log } = keptLog();
    await createRecorder({ db, log })(outcomes[0]!);
    const begins = ['warn', 'cannot record attempts, retrying', { err: 'not now' }];
    const over = ['info', 'recording attempts again', {}];
    assert.deepEqual(lines, [begins, over]);
    const left = await db`
      select attempts from pending_deliveries where webhook_id = ${target.webhook_id}`;
    assert.deepEqual(
      left.map(({ attempts }) => attempts),
      status === 500 ? [1] : [],
    );
  });
}
