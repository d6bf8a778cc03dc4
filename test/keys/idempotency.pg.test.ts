import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { answerStore, deleteAnswers, findAnswers, saveAnswer } from '../../src/keys/idempotency.ts';
import { createSecrets } from '../../src/lib/crypto/secrets.ts';
import { one } from '../../src/lib/db/db.ts';
import { readBody } from '../../src/lib/http/body.ts';
import { refuseWrites } from '../support/make/refused-writes.ts';
import { makeClient } from '../support/make/rows.ts';
import { bareApp, testApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';
import { keptLog } from '../support/probe/log.ts';

const { db } = await testDatabase();
const path = '/api/v1/orders';
const testSecrets = createSecrets([Buffer.alloc(32, 1)]);

test('a repeat gets the stored response and does not run', async () => {
  const { ran, post, mine } = await shop();

  const [first, second] = [await post(mine), await post(mine)];

  assert.equal(ran.times, 1);
  assert.equal(first.headers.get('Idempotent-Replayed'), null);
  assert.equal(second.headers.get('Idempotent-Replayed'), 'true');
  assert.equal(second.status, 201);
  assert.match(second.headers.get('Content-Type') ?? '', /^application\/json/);
  assert.match(second.headers.get('RateLimit') ?? '', /^"default";r=\d+;t=\d+$/);
  assert.equal(await second.text(), await first.text());
});

test('the same Idempotency-Key with another body returns 422', async () => {
  const { ran, post, mine } = await shop();
  await post(mine, '{"a":1}');
  const answer = await post(mine, '{"a":2}');
  assert.equal(answer.status, 422);
  assert.equal(await codeOf(answer), 'idempotency_key_reused');
  assert.equal(ran.times, 1);
});

test('the same Idempotency-Key with another path or query returns 422', async () => {
  const { post, mine } = await shop();
  await post(mine);
  assert.equal((await post(mine, '{"a":1}', `${path}?dry_run=true`)).status, 422);
  assert.equal((await post(mine, '{"a":1}', '/api/v1/other')).status, 422);
});

test('a repeat returns 409 while the first runs, and then gets its response', async () => {
  const { ran, post, mine, hold } = await shop();
  const release = hold();
  const first = post(mine);
  await ran.started;

  const early = await post(mine);
  assert.equal(early.status, 409);
  assert.equal(await codeOf(early), 'idempotency_key_running');
  assert.equal(early.headers.get('Retry-After'), '1');

  release();
  assert.equal((await first).status, 201);
  assert.equal((await post(mine)).headers.get('Idempotent-Replayed'), 'true');
  assert.equal(ran.times, 1);
});

test('concurrent requests with one Idempotency-Key run once', async () => {
  const { ran, post, mine } = await shop();
  const statuses = await Promise.all(
    Array.from({ length: 20 }, async () => (await post(mine)).status),
  );
  assert.equal(ran.times, 1);
  assert.ok(statuses.includes(201));
  assert.ok(statuses.every((status) => status === 201 || status === 409));
});

test('two API keys can use the same Idempotency-Key', async () => {
  const { ran, post, mine } = await shop();
  const { write } = await makeClient(db);
  await post(mine);
  const answer = await post({ ...mine, ...write });
  assert.equal(answer.status, 201);
  assert.equal(answer.headers.get('Idempotent-Replayed'), null);
  assert.equal(ran.times, 2);
});

test('a 5xx response is not stored, so the repeat runs', async () => {
  const { ran, post, mine, refuse } = await shop();
  refuse(new Error('oh'));
  assert.equal((await post(mine)).status, 500);
  refuse(undefined);
  assert.equal((await post(mine)).status, 201);
  assert.equal(ran.times, 2);
});

test('a stored response is replayed for 24 hours', async () => {
  const { ran, post, mine, age } = await shop();
  await post(mine);
  await age('23 hours 59 minutes');
  assert.equal((await post(mine)).headers.get('Idempotent-Replayed'), 'true');
  await age('2 minutes');
  assert.equal((await post(mine, '{"another":"body"}')).status, 201);
  assert.equal(ran.times, 2);
});

test('a repeat runs as soon as the first request must have died', async () => {
  const { ran, post, mine, hold, age } = await shop();
  const release = hold();
  const dead = post(mine);
  await ran.started;

  await age('149 seconds');
  assert.equal((await post(mine)).status, 409);
  await age('1 second');
  hold()();
  assert.equal((await post(mine)).status, 201);
  assert.equal(ran.times, 2);

  // A late first request must not overwrite the newer response.
  release();
  await dead;
  const { data } = (await (await post(mine)).json()) as { data: { order: number } };
  assert.equal(data.order, 2);
});

test('only a repeat takes over the name of a dead request', async () => {
  const { ran, post, mine, hold, age } = await shop();
  const release = hold();
  const dead = post(mine);
  await ran.started;
  await age('10 minutes');
  hold()();

  const other = await post(mine, '{"another":"body"}');
  assert.equal(other.status, 422);
  assert.equal(await codeOf(other), 'idempotency_key_reused');
  assert.equal(ran.times, 1);
  release();
  await dead;
});

test('a dry run is not stored and runs again', async () => {
  const { ran, post, mine, id } = await shop();
  const [first, second] = [
    await post(mine, '{}', `${path}?dry_run=true`),
    await post(mine, '{}', `${path}?dry_run=true`),
  ];
  assert.deepEqual([first.status, second.status, ran.times], [201, 201, 2]);
  assert.equal(second.headers.get('Idempotent-Replayed'), null);
  assert.deepEqual(await stored(id), { rows: 0, bytes: 0 });
});

test('a response that cannot be stored is sent and logged', async (t) => {
  const { post, write, lines } = await shop();
  const allow = await refuseWrites(db, t, { table: 'idempotency_keys', acts: 'update or delete' });
  for (const query of ['', '?dry_run=true']) {
    const request_id = `request-${query.length}`;
    const named = { ...write, 'Idempotency-Key': request_id, 'X-Request-Id': request_id };
    assert.equal((await post(named, '{}', `${path}${query}`)).status, 201);
    const line = ['error', 'could not store a response', { err: 'not now', request_id }];
    assert.deepEqual(lines.splice(0), [line]);
  }
  await allow();
  assert.equal((await post({ ...write, 'Idempotency-Key': 'stored' })).status, 201);
  assert.deepEqual(lines, []);
});

test('a response over 1 MiB is not stored, and the repeat does not run', async () => {
  const { ran, post, mine, id, fill } = await shop();
  fill(1_500_000);
  assert.equal((await post(mine)).status, 201);
  assert.deepEqual(await stored(id), { rows: 1, bytes: 0 });

  const again = await post(mine);
  assert.equal(again.status, 409);
  assert.equal(await codeOf(again), 'idempotency_answer_not_stored');
  assert.equal(ran.times, 1);
});

test('a key stores at most 64 MiB of large responses', async () => {
  const { id } = await makeClient(db);
  const [key] = await db<{ id: string }[]>`select id from api_keys where org_id = ${id} limit 1`;
  const keyId = key!.id;
  const save = async (name: string, bytes: number) => {
    const [claimed] = await db<{ claimedAt: string }[]>`
      insert into idempotency_keys (key_id, name, request_hash)
      values (${keyId}, ${name}, '') returning created_at::text as "claimedAt"`;
    const claim = { keyId, name, requestHash: Buffer.alloc(0), ...claimed! };
    await saveAnswer(db, claim, 201, Buffer.alloc(bytes));
    const [saved] = await db`select answer_bytes from idempotency_keys where name = ${name}`;
    return saved!['answer_bytes'] === bytes;
  };
  for (let n = 0; n < 63; n++) assert.ok(await save(`large-${n}`, 1024 * 1024));
  // Responses of up to 1 KiB do not count towards the limit.
  assert.ok(await save('small', 1024));
  assert.equal(await save('one too many', 1024 * 1024 + 1), false);
  assert.ok(await save('to the brim', 1024 * 1024));
  assert.equal(await save('the smallest large one', 1025), false);
  assert.ok(await save('another small one', 1024));
});

test('a replayed webhook secret is never stored in plain text', async () => {
  const app = testApp(db);
  const { id, write } = await makeClient(db);
  const wish = { url: 'https://hooks.example.com/', events: ['survey.completed'] };
  const ask = async (name: string, to: string, body: string | null) => {
    const headers = { ...write, 'Idempotency-Key': name };
    const answer = await app.request(to, { method: 'POST', headers, body });
    return { answer, body: (await answer.json()) as { id: string; secret: string } };
  };
  const create = () => ask('create', '/api/webhooks', JSON.stringify(wish));
  const [first, again] = [await create(), await create()];
  const rotate = () => ask('rotate', `/api/webhooks/${first.body.id}/rotate-secret`, null);
  const [rotated, rotatedAgain] = [await rotate(), await rotate()];

  assert.deepEqual(again.body, first.body);
  assert.equal(again.answer.headers.get('Idempotent-Replayed'), 'true');
  assert.deepEqual(rotatedAgain.body, rotated.body);
  assert.notEqual(rotated.body.secret, first.body.secret);
  assert.equal((await db`select from webhooks where org_id = ${id}`).length, 1);
  const kept = await db<{ row: string; answer: Buffer }[]>`
    select i::text as row, answer from idempotency_keys i
    where key_id in (select id from api_keys where org_id = ${id})`;
  assert.equal(kept.length, 2);
  for (const { row, answer } of kept) {
    assert.ok(!row.includes('whsec_') && !answer.includes('whsec_'));
  }
});

test('a stored response only opens for its own name', async () => {
  const { post, mine, id } = await shop();
  await post(mine);
  await db`
    update idempotency_keys set name = 'order-2'
    where key_id in (select id from api_keys where org_id = ${id})`;
  assert.equal((await post({ ...mine, 'Idempotency-Key': 'order-2' })).status, 500);
});

test('findAnswers finds all matching responses of an organization', async () => {
  const { id: org } = await makeClient(db);
  const [key] = await db<{ id: string }[]>`select id from api_keys where org_id = ${org} limit 1`;
  const names = Array.from({ length: 250 }, (_, place) => `name ${place}`);
  const sealed = names.map(async (name, place) =>
    answerStore(testSecrets, { owner: org, id: `${key!.id} ${name}` }).pack(`answer ${place}.`),
  );
  const rows = (await Promise.all(sealed)).map((answer, place) => ({
    key_id: key!.id,
    name: names[place]!,
    request_hash: Buffer.alloc(32),
    status: 200,
    answer,
  }));
  await db`insert into idempotency_keys ${db(rows)}`;
  const secrets = testSecrets;
  const found = async (matches: (text: string) => boolean) =>
    (await findAnswers({ db, secrets }, org, matches)).map(({ name }) => name);
  assert.deepEqual((await found(() => true)).toSorted(), names.toSorted());
  assert.deepEqual(await found((text) => text === 'answer 249.'), ['name 249']);
  assert.equal(await deleteAnswers(db, org, [{ key_id: key!.id, name: 'name 7' }]), 1);
  assert.equal((await found(() => true)).length, 249);
});

/** An app with one route that counts its runs and has a configurable response. */
async function shop() {
  const { id, write } = await makeClient(db);
  const started = Promise.withResolvers<void>();
  const ran = { times: 0, started: started.promise };
  const behaviour = {
    wait: Promise.resolve(),
    refusal: undefined as Error | undefined,
    filling: () => '',
  };
  const { lines, log } = keptLog();
  const app = bareApp(db, { log });
  app.post(path, async (c) => {
    const order = ++ran.times;
    started.resolve();
    await behaviour.wait;
    if (behaviour.refusal) throw behaviour.refusal;
    return c.json({ data: { order, body: await readBody(c), filling: behaviour.filling() } }, 201);
  });

  return {
    id,
    ran,
    write,
    lines,
    mine: { ...write, 'Idempotency-Key': 'order-1' },
    post: async (headers: Record<string, string>, body = '{"a":1}', to = path) =>
      app.request(to, { method: 'POST', headers, body }),
    hold: () => {
      const gate = Promise.withResolvers<void>();
      behaviour.wait = gate.promise;
      return gate.resolve;
    },
    refuse: (error: Error | undefined) => {
      behaviour.refusal = error;
    },
    /** Size of the responses, whose characters compress to three quarters. */
    fill: (size: number) => {
      behaviour.filling = () => randomBytes(size).toString('base64');
    },
    age: (interval: string) => db`
      update idempotency_keys
      set created_at = created_at - ${interval}::interval
      where key_id in (select id from api_keys where org_id = ${id})`,
  };
}

/** The stored responses of the organization's keys. */
async function stored(org: string) {
  return one(
    await db<{ rows: number; bytes: number }[]>`
      select count(*)::int as rows, coalesce(sum(octet_length(answer)), 0)::float8 as bytes
      from idempotency_keys
      where key_id in (select id from api_keys where org_id = ${org})`,
  );
}

const codeOf = async (answer: Response) => ((await answer.json()) as { code: string }).code;
