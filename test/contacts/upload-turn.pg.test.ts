import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeOrganization, makeSurvey } from '../support/make/rows.ts';
import { bareApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';
import { memberBrowser } from '../support/probe/member.ts';
import { until } from '../support/probe/until.ts';

const { db } = await testDatabase();
const app = bareApp(db);

async function uploader(place?: string) {
  const org = await makeOrganization(db);
  const survey = await makeSurvey(db, org);
  const { home, request } = await memberBrowser(db, { app, org, role: 'editor' });
  const path = `${home}/${place ?? `surveys/${survey}/contacts/uploads`}`;
  const upload = (body: string | ReadableStream) => {
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
    return request(path, { method: 'POST', headers, body, duplex: 'half' } as RequestInit);
  };
  return { upload };
}

const list = 'list=ann%40people.test';

/** A body that waits for `arrive`; `isAsked` as soon as something reads it. */
function slowBody() {
  let isAsked = false;
  const { promise, resolve: arrive } = Promise.withResolvers<void>();
  const body = new ReadableStream(
    {
      async pull(controller) {
        isAsked = true;
        await promise;
        controller.enqueue(new TextEncoder().encode(list));
        controller.close();
      },
    },
    { highWaterMark: 0 },
  );
  return { body, arrive, isAsked: () => isAsked };
}

test('organization reads two lists at once, and eight more wait', async () => {
  const [many, other] = [await uploader(), await uploader()];
  const bodies = Array.from({ length: 12 }, slowBody);
  const answers = bodies.map(({ body }) => many.upload(body));
  const asked = () => bodies.filter(({ isAsked }) => isAsked()).length;
  const refused: Response[] = [];
  for (const answer of answers) {
    answer.then((one) => one.status === 429 && refused.push(one));
  }
  await until('two are refused', () => refused.length === 2);
  assert.match(await refused[0]!.text(), /already uploading several lists/);
  assert.equal(refused[0]!.headers.get('Retry-After'), '10');

  await until('two bodies are read', () => asked() === 2);
  assert.equal((await other.upload(list)).status, 303);
  assert.equal(asked(), 2);

  for (const { arrive } of bodies) arrive();
  const statuses = (await Promise.all(answers)).map(({ status }) => status);
  assert.deepEqual(statuses.toSorted(), [...Array(10).fill(303), 429, 429]);
});

test('import of people waits for its turn before it reads the list', async () => {
  const people = await uploader('people/import');
  const bodies = Array.from({ length: 12 }, slowBody);
  const answers = bodies.map(({ body }) => people.upload(body));
  const refused: Response[] = [];
  for (const answer of answers) {
    answer.then((one) => one.status === 429 && refused.push(one));
  }
  await until('two are refused', () => refused.length === 2);
  assert.ok(bodies.filter(({ isAsked }) => isAsked()).length <= 2);
  for (const { arrive } of bodies) arrive();
  await Promise.all(answers);
});
