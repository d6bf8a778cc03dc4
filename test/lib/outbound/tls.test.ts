import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { after, before, type TestContext, test } from 'node:test';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { createOutbound } from '../../../src/lib/outbound/post.ts';
import { type Certificate, makeCertificate } from '../../support/fakes/certificate.ts';

const good = makeCertificate('hooks.example');
const expired = makeCertificate('hooks.example', { from: -30, to: -1 });
const unknown = makeCertificate('hooks.example');

const outbound = createOutbound({
  allow: ['127.0.0.0/8'],
  http: false,
  perHostConnections: 10,
  resolve: () => Promise.resolve(['127.0.0.1']),
});
const trustedBefore = getCACertificates('default');

before(() => setDefaultCACertificates([good.cert, expired.cert]));
after(() => setDefaultCACertificates(trustedBefore));
after(() => outbound.close());

async function listen(t: TestContext, { key, cert }: Certificate) {
  const asked: (string | false | null)[] = [];
  const server = createServer({ key, cert }, (request, answer) => {
    request.resume().on('end', () => answer.end('ok'));
  });
  server.on('secureConnection', (socket) => asked.push(socket.servername));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.after(() => server.closeAllConnections());
  t.after(() => server.close());
  return { port: (server.address() as AddressInfo).port, asked };
}

const post = (url: string) =>
  outbound.post(url, { group: 'a', headers: {}, body: '{}', deadlineMs: 30_000 });

test('a certificate must match the host name', async (t) => {
  const { port, asked } = await listen(t, good);

  const right = await post(`https://hooks.example:${port}/`);
  const wrong = await post(`https://other.example:${port}/`);

  assert.deepEqual([right.statusCode, right.error], [200, null]);
  assert.deepEqual([wrong.statusCode, wrong.errorKind], [null, 'tls']);
  assert.match(wrong.error ?? '', /ALTNAME/);
  assert.equal(asked[0], 'hooks.example');
});

test('a trailing dot is ignored for certificates', async (t) => {
  const { port, asked } = await listen(t, good);
  assert.equal((await post(`https://hooks.example.:${port}/`)).statusCode, 200);
  assert.deepEqual(asked, ['hooks.example']);
});

test('a certificate for a name is invalid for its address', async (t) => {
  const { port } = await listen(t, good);
  assert.equal((await post(`https://127.0.0.1:${port}/`)).errorKind, 'tls');
});

for (const [what, certificate] of [
  ['an expired', expired],
  ['an unknown', unknown],
] as const) {
  test(`${what} certificate is refused`, async (t) => {
    const { port } = await listen(t, certificate);
    const answer = await post(`https://hooks.example:${port}/`);
    assert.deepEqual([answer.statusCode, answer.errorKind], [null, 'tls']);
    assert.match(answer.error ?? '', /certificate is not valid/);
  });
}
