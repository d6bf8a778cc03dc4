import assert from 'node:assert/strict';
import dns from 'node:dns/promises';
import { once } from 'node:events';
import { syncBuiltinESMExports } from 'node:module';
import { type AddressInfo, createServer } from 'node:net';
import { type TestContext, test } from 'node:test';
import { forbiddenTarget } from '../../../src/lib/outbound/connect.ts';
import { createOutbound } from '../../../src/lib/outbound/post.ts';

type Settings = Partial<Parameters<typeof createOutbound>[0]>;

function outboundOf(t: TestContext, settings: Settings = {}) {
  const outbound = createOutbound({
    allow: ['127.0.0.0/8'],
    http: true,
    perHostConnections: 10,
    ...settings,
  });
  t.after(() => outbound.close());
  const post = (url: string) =>
    outbound.post(url, { group: 'a', headers: {}, body: '{}', deadlineMs: 30_000 });
  return { ...outbound, post };
}

/** Result of a post if the other side answers with these bytes. */
async function answered(t: TestContext, bytes: string) {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => socket.end(bytes));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  return await outboundOf(t).post(`http://127.0.0.1:${port}/`);
}

const whole = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';

test('answer headers are limited to 16 KiB', async (t) => {
  const withHeaders = (bytes: number) => {
    const others = 'content-length2'.length + 'x-long'.length;
    const long = 'x'.repeat(bytes - others);
    return whole.replace('\r\n\r\n', `\r\nx-long: ${long}\r\n\r\n`);
  };
  const most = await answered(t, withHeaders(16 * 1024 - 1));
  assert.deepEqual([most.statusCode, most.body, most.error], [200, 'ok', null]);
  const more = await answered(t, withHeaders(16 * 1024));
  assert.deepEqual([more.statusCode, more.errorKind], [null, 'protocol']);
  assert.equal(more.error, 'the headers of the response are too large');
});

test('the hosts file is read only with an allowed range', async (t) => {
  const asked: string[] = [];
  const lookup = (name: string) => {
    asked.push(name);
    return Promise.resolve([{ address: '10.1.2.3', family: 4 }]);
  };
  const mocked = t.mock.method(dns, 'lookup', lookup as never);
  syncBuiltinESMExports();
  t.after(() => {
    mocked.mock.restore();
    syncBuiltinESMExports();
  });
  const url = 'http://only-here.invalid/';
  assert.equal(await outboundOf(t, { allow: [] }).check(url), null);
  assert.deepEqual(asked, []);
  assert.equal(await outboundOf(t).check(url), forbiddenTarget);
  assert.deepEqual(asked, ['only-here.invalid']);
});
