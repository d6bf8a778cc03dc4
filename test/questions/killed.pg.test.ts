import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mergeQuestions, type Question } from '../../src/questions/definition.ts';
import { makeContact, makeOrganization, makeSurvey, makeWebhook } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';
import { until } from '../support/probe/until.ts';
import { addressIn, secretKey, startService } from '../support/processes/program.ts';

const { db, url } = await testDatabase();

const definition = mergeQuestions([], [{ kind: 'text', text: 'What else?' }], new Set());
const [more] = definition as [Question];
const people = 24;

async function start() {
  const service = startService({
    DATABASE_URL: url,
    ASKBACK_SECRET_KEY: secretKey,
    ASKBACK_PUBLIC_URL: 'https://ask.acme.test',
    PORT: '0',
  });
  return { service, address: addressIn(await service.ready()) };
}

async function scene() {
  const org_id = await makeOrganization(db);
  const survey_id = await makeSurvey(db, org_id, { questions: db.json(definition as never) });
  await makeWebhook(db, org_id, { events: ['response.completed'] });
  const tokens = Array.from({ length: people }, (_, at) => `${survey_id}-${at}`);
  for (const token of tokens) await makeContact(db, { org_id, survey_id }, { token });
  const stored = async () =>
    new Map(
      (
        await db<{ token: string; text: string | null }[]>`
          select c.token, a.answers -> ${more.id} ->> 'text' as text
          from responses r
          join contacts c on c.org_id = r.org_id and c.id = r.contact_id
          left join response_answers a on a.org_id = r.org_id and a.response_id = r.id
          where r.org_id = ${org_id}`
      ).map(({ token, text }) => [token, text]),
    );
  const published = async () =>
    (
      await db<{ body: string }[]>`
        select body from events where org_id = ${org_id} and type = 'response.completed'`
    ).map(({ body }) => JSON.parse(body).responseId as string);
  return { tokens, stored, published };
}

const score = (address: string, token: string) =>
  fetch(`${address}/s/${token}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ score: 9 }),
  });

const send = (address: string, token: string) =>
  fetch(`${address}/s/${token}/answers`, {
    method: 'POST',
    headers: { Accept: 'application/json' },
    body: new URLSearchParams({ [more.id]: `Of ${token}` }),
  });

for (const [moment, first] of [
  ['between score and answers', score],
  ['during answers', send],
] as const) {
  test(`a service killed ${moment} keeps what it acknowledged`, async () => {
    const { tokens, stored, published } = await scene();
    const { service, address } = await start();
    if (first === send) await Promise.all(tokens.map((token) => score(address, token)));
    const acknowledged: string[] = [];
    await Promise.all(
      tokens.map(async (token) => {
        const answer = await first(address, token).catch(() => undefined);
        if (answer?.ok) acknowledged.push(token);
        if (acknowledged.length === people / 4) service.child.kill('SIGKILL');
      }),
    );
    await service.exited;
    assert.ok(acknowledged.length >= people / 4);
    const left = await stored();
    for (const token of acknowledged) {
      assert.equal(left.get(token), first === send ? `Of ${token}` : null);
    }

    const next = await start();
    for (const token of tokens) await score(next.address, token);
    for (const token of tokens) {
      const { status } = await send(next.address, token);
      assert.equal(status, 200);
    }
    await until('all responses are completed', async () => (await published()).length >= people);
    await Promise.all(tokens.map((token) => send(next.address, token)));
    assert.equal(await next.service.stop(), 0);
    const ids = await published();
    assert.equal(ids.length, people);
    assert.equal(new Set(ids).size, people);
    assert.deepEqual(
      new Set((await stored()).values()),
      new Set(tokens.map((token) => `Of ${token}`)),
    );
  });
}
