import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Hono } from 'hono';
import { keepPosted, postedAgain } from '../../../src/web/app/forms.tsx';

const app = new Hono().post('/', async (c) => {
  await keepPosted(c);
  return c.json(postedAgain(c));
});

async function again(...fields: [name: string, value: string | File][]) {
  const body = new FormData();
  for (const [name, value] of fields) body.append(name, value);
  return (await (await app.request('/', { method: 'POST', body })).json()) as unknown;
}

test('a form is sent again with its fields in their order, also several of one name', async () => {
  assert.deepEqual(
    await again(['tag', 'a'], ['name', 'password of Ann'], ['tag', 'b'], ['tag', 'c']),
    [
      ['tag', 'a'],
      ['tag', 'b'],
      ['tag', 'c'],
      ['name', 'password of Ann'],
    ],
  );
});

for (const [what, name, value] of [
  ['a file', 'logo', new File(['x'], 'logo.png')],
  ['a password', 'newPassword', 'long enough'],
  ['a code', 'code', '123456'],
] as const) {
  test(`a form with ${what} is not sent again`, async () => {
    assert.deepEqual(await again(['name', 'Ann'], [name, value], ['other', 'x']), []);
  });
}

test('a form of up to a mebibyte is sent again, and none of more', async () => {
  const send = async (bytes: number) => {
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
    const body = `a=${'x'.repeat(bytes - 2)}`;
    return await (await app.request('/', { method: 'POST', body, headers })).json();
  };
  assert.equal(((await send(1024 * 1024)) as unknown[]).length, 1);
  assert.deepEqual(await send(1024 * 1024 + 1), []);
});
