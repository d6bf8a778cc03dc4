import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { apiDocument } from '../src/api.ts';
import { testSettings } from './support/make/settings.ts';
import { testApp } from './support/probe/app.ts';
import { makeCaller } from './support/probe/caller.ts';
import { testDatabase } from './support/probe/database.ts';

/** Every parameter of every request that writes. */
type QueryParameter = { in?: string; name?: string };
const writes = Object.entries(apiDocument(testSettings).paths).flatMap(([path, methods]) =>
  Object.entries(methods)
    .filter(([method]) => method !== 'get')
    .flatMap(([method, { parameters = [], requestBody }]) =>
      (parameters as readonly QueryParameter[])
        .filter((parameter) => parameter.in === 'query')
        .map(({ name = '' }) => ({
          method: method.toUpperCase(),
          path,
          name,
          hasBody: requestBody !== undefined,
        })),
    ),
);

const { db } = await testDatabase();
const { write } = await makeCaller(db, testApp(db));
const app = testApp(db);

test('there are such parameters', () => assert.ok(writes.length >= 4));

for (const { method, path, name } of writes) {
  const near = [name.toUpperCase(), `${name}_`, `-${name}`, name.replaceAll('_', '')];
  for (const given of near.filter((word) => word !== name)) {
    test(`${method} ${path} refuses ${given}, which is not ${name}`, async () => {
      const place = path.replace(/\{\w+\}/g, randomUUID());
      const answer = await app.request(`${place}?${given}=true`, { method, headers: write });
      assert.equal(answer.status, 400);
      const { error } = (await answer.json()) as { error: string };
      assert.equal(error, `${given} is no parameter here: write ${name}`);
    });
  }
}

const withBody = writes.filter(({ hasBody }) => hasBody);

test('some of these requests have a body', () => assert.ok(withBody.length >= 2));

for (const { method, path, name } of withBody) {
  for (const given of [name, name.toUpperCase(), name.replaceAll('_', '-')]) {
    test(`${method} ${path} refuses a field ${given} of its body, which belongs into the address`, async () => {
      const place = path.replace(/\{\w+\}/g, randomUUID());
      const body = JSON.stringify({ contacts: [{ email: 'ann@people.test' }], [given]: false });
      const answer = await app.request(place, { method, headers: write, body });
      assert.equal(answer.status, 400);
      const { error } = (await answer.json()) as { error: string };
      assert.equal(error, `${given} is no field here: write it in the address, as ?${name}=`);
    });
  }
}
