import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Hono } from 'hono';
import { createSecrets } from '../../../src/lib/crypto/secrets.ts';
import { keepOnce, takeOnce } from '../../../src/web/app/flash.ts';

test('what is kept for the next page is there for a minute', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: 1_800_000_000_000 });
  const secrets = createSecrets([Buffer.alloc(32, 1)]);
  const owner = { orgId: 'org', memberId: 'ann' };
  const app = new Hono()
    .get('/keep', (c) => {
      keepOnce(c, secrets, owner, { secret: 'x' });
      return c.text('');
    })
    .get('/take', (c) => c.json(takeOnce(c, secrets, owner) ?? null));
  const kept = (await app.request('/keep')).headers.get('Set-Cookie')!;
  assert.match(kept, /Max-Age=60;/);
  const taken = async () =>
    await (await app.request('/take', { headers: { Cookie: kept.split(';')[0]! } })).json();
  t.mock.timers.tick(59_999);
  assert.deepEqual(await taken(), { secret: 'x' });
  t.mock.timers.tick(1);
  assert.equal(await taken(), null);
});
