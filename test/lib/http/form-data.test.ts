import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Hono } from 'hono';
import { readFormData } from '../../../src/lib/http/body.ts';
import { refusalIn } from '../../../src/lib/http/http.ts';

const app = new Hono()
  .onError((error, c) => c.text(refusalIn(error)?.code ?? 'fault'))
  .post('/', async (c) => c.text([...(await readFormData(c, 100_000)).keys()].length.toString()));

async function post(
  body: URLSearchParams | FormData | string,
  headers: Record<string, string> = {},
) {
  return await (await app.request('/', { method: 'POST', body, headers })).text();
}

const fields = (count: number) =>
  Array.from({ length: count }, (_, at) => [`a${at}`, 'b'] as const);
const parts = (count: number) => {
  const form = new FormData();
  for (const [name, value] of fields(count)) form.append(name, value);
  return form;
};

test('a form has at most 1,000 fields', async () => {
  const pairs = (count: number) => new URLSearchParams(fields(count).map((pair) => [...pair]));
  for (const form of [pairs, parts]) {
    assert.equal(await post(form(1000)), '1000');
    assert.equal(await post(form(1001)), 'too_many_fields');
  }
});

test('multipart fields are counted, however the boundary is quoted', async () => {
  const part = '--a b\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n';
  for (const type of [
    'multipart/form-data; boundary="a b"',
    'Multipart/Form-Data;Boundary="a b";boundary=c',
    'multipart/form-data; charset=utf-8; boundary="a\\ b"',
  ]) {
    const headers = { 'Content-Type': type };
    assert.equal(await post(`${part.repeat(3)}--a b--\r\n`, headers), '3');
    assert.equal(await post(`${part.repeat(1200)}--a b--\r\n`, headers), 'too_many_fields');
  }
});

test('a body that is not a form is refused', async () => {
  for (const type of ['text/plain', 'multipart/form-data', 'a', 'multipart/form-data; boundary=']) {
    assert.equal(await post('a=1', { 'Content-Type': type }), 'invalid_form');
  }
});
