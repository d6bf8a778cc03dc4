import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createResolve } from '../../../src/lib/outbound/connect.ts';

type Answers = Partial<Record<'resolve4' | 'resolve6', string[]>>;

/** Name servers with these addresses for every name. */
function nameServers({ resolve4, resolve6 }: Answers) {
  const say = (addresses?: string[]) =>
    addresses ? Promise.resolve(addresses) : Promise.reject(new Error('no such name'));
  return { resolve4: () => say(resolve4), resolve6: () => say(resolve6), cancel() {} } as never;
}

/** System lookups that finish when the test says so. */
function systemFiles() {
  const asked: { name: string; answer: (address: string) => void }[] = [];
  const systemLookup = (name: string) => {
    const { promise, resolve } = Promise.withResolvers<{ address: string }[]>();
    asked.push({ name, answer: (address) => resolve([{ address }]) });
    return promise;
  };
  return { asked, systemLookup };
}

const unresolved = { kind: 'dns', message: 'the host name does not resolve' };
const turn = () => new Promise((resolve) => setImmediate(resolve));

test('a name has its IPv4 and IPv6 addresses', async () => {
  const { asked, systemLookup } = systemFiles();
  const resolver = nameServers({ resolve4: ['192.0.2.1'], resolve6: ['2001:db8::1'] });
  const { resolve } = createResolve({ systemNames: true, resolver, systemLookup });
  assert.deepEqual(await resolve('both.test'), ['192.0.2.1', '2001:db8::1']);
  const six = nameServers({ resolve6: ['2001:db8::1'] });
  const one = createResolve({ systemNames: true, resolver: six, systemLookup });
  assert.deepEqual(await one.resolve('six.test'), ['2001:db8::1']);
  assert.equal(asked.length, 0);
});

test('the system lookup is only for unknown names, if allowed', async () => {
  const { asked, systemLookup } = systemFiles();
  const unknown = { resolver: nameServers({}), systemLookup };
  const strict = createResolve({ ...unknown, systemNames: false });
  await assert.rejects(strict.resolve('db.internal'), unresolved);
  assert.equal(asked.length, 0);
  const found = createResolve({ ...unknown, systemNames: true }).resolve('db.internal');
  await turn();
  asked[0]!.answer('10.0.0.5');
  assert.deepEqual(await found, ['10.0.0.5']);
});
