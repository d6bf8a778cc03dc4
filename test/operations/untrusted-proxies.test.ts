import assert from 'node:assert/strict';
import { test } from 'node:test';
import { watchProxies } from '../../src/operations/doctor.ts';

test('watchProxies only reports the first untrusted proxy', () => {
  const said: string[] = [];
  const { saw, check } = watchProxies((sentence) => said.push(sentence));
  assert.equal(check(), undefined);
  for (const peer of ['192.0.2.1', '192.0.2.1', '192.0.2.2']) saw(peer);
  assert.equal(said.length, 1);
  assert.match(
    said[0]!,
    /a proxy at 192\.0\.2\.1, which is not trusted: .*ASKBACK_TRUSTED_PROXIES/,
  );
  assert.match(String(check()), /not trusted: .*ASKBACK_TRUSTED_PROXIES/);
});
