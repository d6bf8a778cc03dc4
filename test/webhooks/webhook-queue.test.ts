import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import type { ClaimedDelivery } from '../../src/webhooks/delivery.queries.ts';
import {
  addReady,
  dropReady,
  inFlightPerWebhook,
  newQueue,
} from '../../src/webhooks/webhook-queue.ts';

const webhook = { org_id: randomUUID(), webhook_id: randomUUID() };

const claimed = (id: string) =>
  ({
    id,
    url: `https://${id}.test`,
    secret: id,
    previous_secret: null,
    retries: true,
  }) as unknown as ClaimedDelivery;

const idsOf = (found: readonly { id: string }[]) => found.map(({ id }) => id);

test('a claim that returns what the process knows already adds only the rest', () => {
  const queue = newQueue(webhook);
  addReady(queue, [claimed('one')]);
  addReady(queue, [claimed('one'), claimed('two')]);
  assert.deepEqual(idsOf(queue.ready), ['one', 'two']);
  assert.deepEqual([...queue.known], ['one', 'two']);
  assert.equal(queue.target?.url, 'https://two.test');
});

test('what is dropped can be claimed again', () => {
  const queue = newQueue(webhook);
  addReady(queue, [claimed('one'), claimed('two')]);
  assert.deepEqual(dropReady(queue), ['one', 'two']);
  assert.equal(queue.state, 'full');
  assert.deepEqual(dropReady(queue), []);
  addReady(queue, [claimed('one')]);
  assert.deepEqual(idsOf(queue.ready), ['one']);
});

test('sixteen attempts of a webhook are under way at most, as the pages for operators say', () => {
  assert.equal(inFlightPerWebhook, 16);
});
