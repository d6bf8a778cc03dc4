import assert from 'node:assert/strict';
import { test } from 'node:test';
import { maxInFlight } from '../../src/webhooks/worker.ts';
import { hangingSubscriber } from '../support/fakes/subscriber.ts';
import { emitOwned, makePool, workerOf } from '../support/make/deliveries.ts';
import {
  makeClient,
  makeContact,
  makeResponse,
  makeSurvey,
  makeWebhook,
} from '../support/make/rows.ts';
import { testApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';
import { untilLockWaits } from '../support/probe/locks.ts';
import { assertTalliesHold } from '../support/probe/tallies.ts';
import { until } from '../support/probe/until.ts';

const { db } = await testDatabase();
const app = testApp(db);
const email = 'ada@people.test';

/** A contact with a link, and the racing actions. */
async function scene() {
  const client = await makeClient(db);
  const of = { org_id: client.id, survey_id: await makeSurvey(db, client.id) };
  const id = await makeContact(db, of, { email });
  const [contact] = await db<{ token: string }[]>`select token from contacts where id = ${id}`;
  const token = contact!.token;
  const submit = async (link = token) => {
    const body = new URLSearchParams({ score: '3', comment: 'slow as treacle' });
    const answer = await app.request(`/s/${link}`, { method: 'POST', body });
    return { status: answer.status, text: await answer.text() };
  };
  const erase = async () =>
    (await app.request(`/api/v1/people/${email}`, { method: 'DELETE', headers: client.write }))
      .status;
  return { id: client.id, of, contact: id, submit, erase };
}

async function assertNothingStored(orgId: string) {
  for (const table of ['contacts', 'link_visits', 'responses', 'events']) {
    const rows = await db`select from ${db(table)} where org_id = ${orgId}`;
    assert.equal(rows.length, 0, table);
  }
  await assertTalliesHold(db);
}

test('submission during an erasure gets the page of an unknown link', async () => {
  const { id, submit, erase } = await scene();
  const unknown = await submit('unknown');
  let acts: Promise<[number, Awaited<ReturnType<typeof submit>>]> | undefined;
  await db
    .begin(async (tx) => {
      // The erasure waits after deleting the contact.
      await tx`
        insert into erasures (org_id, address_hash, scores, counts)
        values (${id}, address_hash(${id}, ${email}), 'kept', '{}')`;
      const erasing = erase();
      await untilLockWaits(db);
      const submitting = submit();
      await untilLockWaits(db, 2);
      acts = Promise.all([erasing, submitting]);
      throw new Error('the other receipt is not kept');
    })
    .catch(() => {});
  const [erased, submitted] = await acts!;
  assert.equal(erased, 200);
  assert.equal(submitted.status, 404);
  assert.equal(submitted.text, unknown.text);
  await assertNothingStored(id);
});

test('submission of a deleted contact gets the page of an unknown link', async () => {
  const { id, of, contact, submit } = await scene();
  let submitting: ReturnType<typeof submit> | undefined;
  await db.begin(async (tx) => {
    await tx`select from surveys where id = ${of.survey_id} for update`;
    submitting = submit();
    await untilLockWaits(db);
    await tx`delete from contacts where id = ${contact}`;
  });
  assert.equal((await submitting!).status, 404);
  await assertNothingStored(id);
});

test('erasure drops waiting excerpts and leaves none in flight', async () => {
  const { id, of, contact, erase } = await scene();
  const webhook = await makeWebhook(db, id);
  const responseId = await makeResponse(db, of, {
    contact_id: contact,
    score: 1,
    category: 'detractor',
    comment: 'treacle',
  });
  const { outbound, release, hanging } = hangingSubscriber();
  const posts: string[] = [];
  const post: typeof outbound.post = (url, request) => {
    posts.push(request.body);
    return outbound.post(url, request);
  };
  const worker = workerOf(db, { post }, await makePool(db));
  const excerpt = {
    type: 'detractor.detected',
    body: JSON.stringify({ responseId, comment: 'treacle' }),
  } as const;
  const plain = { type: 'response.received', body: JSON.stringify({ responseId }) } as const;
  const count = maxInFlight + 3;
  const events = [...Array.from({ length: count }, () => excerpt), plain];
  (await emitOwned(db, worker, { orgId: id, events })).start();
  await until('as many are in flight as may be', () => hanging() === maxInFlight);
  assert.equal(await erase(), 200);

  release();
  await until('the other event is in flight', () => hanging() === 1);
  release();
  await worker.stop();
  assert.equal(posts.filter((body) => body.includes('treacle')).length, maxInFlight);
  assert.equal(posts.at(-1), plain.body);
  const rows = await db`
    select status, response_body, body, count(*)::int from deliveries
    where webhook_id = ${webhook} group by 1, 2, 3 order by 1`;
  assert.deepEqual(
    rows.map((row) => ({ ...row })),
    [
      { status: 'delivered', response_body: 'hello', body: plain.body, count: 1 },
      { status: 'skipped', response_body: null, body: '', count },
    ],
  );
});
