import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cacheWithTtl } from '../../../src/lib/async/cache-with-ttl.ts';

const patient = { ttlMs: 3_600_000, timeoutMs: 60_000 };

/** Calls that resolve when a test says so. */
function questions() {
  const asked: PromiseWithResolvers<string>[] = [];
  const ask = () => {
    const question = Promise.withResolvers<string>();
    asked.push(question);
    return question.promise;
  };
  return { asked, ask };
}

test('concurrent callers share one call', async () => {
  const { asked, ask } = questions();
  const look = cacheWithTtl(ask, patient);
  const looks = [look(), look(), look()];
  asked[0]!.resolve('news');
  assert.deepEqual(await Promise.all(looks), ['news', 'news', 'news']);
  assert.equal(asked.length, 1);
});

test('a timeout returns undefined and does not repeat a pending call', async () => {
  const { asked, ask } = questions();
  const look = cacheWithTtl(ask, { ttlMs: 0, timeoutMs: 1 });
  assert.equal(await look(), undefined);
  assert.equal(await look(), undefined);
  assert.equal(asked.length, 1);
  asked[0]!.resolve('late');
  assert.equal(await look(), 'late');
  void look();
  assert.equal(asked.length, 2);
});

test('a failed call returns undefined and is repeated', async () => {
  const { asked, ask } = questions();
  const look = cacheWithTtl(ask, { ...patient, ttlMs: 0 });
  const first = look();
  asked[0]!.reject(new Error('away'));
  assert.equal(await first, undefined);
  const second = look();
  asked[1]!.resolve('back');
  assert.equal(await second, 'back');
});
