import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { examineLogin, judgeLogin } from '../../src/operations/doctor-mail.ts';
import { noReply, scriptedSmtp, settingsFor } from '../support/fakes/smtp-server.ts';

const seen: string[] = [];

/** A correct server that records how far a client got. */
async function relay(options: SMTPServerOptions = {}) {
  const server = new SMTPServer({
    logger: false,
    onAuth: ({ username, password }, _session, done) => {
      seen.push(`login ${username}`);
      if (password === 'right') done(null, { user: username });
      else done(Object.assign(new Error('5.7.8 no such user'), { responseCode: 535 }));
    },
    onMailFrom: (_address, _session, done) => {
      seen.push('mail');
      done();
    },
    ...options,
  });
  server.on('error', () => {});
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  after(() => server.close(() => {}));
  return `127.0.0.1:${(server.server.address() as AddressInfo).port}`;
}

const look = (url: string, limitMs?: number) => examineLogin(settingsFor(url), limitMs);

test('examineLogin accepts a login over TLS and sends no email', async () => {
  seen.length = 0;
  const host = await relay();
  const { name, status, message } = await look(`smtp://ann:right@${host}?verify=no`);
  assert.deepEqual([name, status], [`SMTP ${host}`, 'warn']);
  assert.equal(message, 'accepts the login, encrypted, but verify=no lets anyone impersonate it');
  assert.deepEqual(seen, ['login ann']);
});

test('examineLogin reports an untrusted certificate', async () => {
  const { status, message } = await look(`smtps://ann:right@${await relay({ secure: true })}`);
  assert.equal(status, 'fail');
  assert.match(message, /^cannot be used: .*certificate/);
});

test('examineLogin quotes the server on a wrong password', async () => {
  const { status, message } = await look(`smtp://ann:wrong@${await relay()}?verify=no`);
  assert.equal(status, 'fail');
  assert.match(message, /^rejects the user or the password: 535 .*no such user/);
  assert.doesNotMatch(message, /wrong/);
});

test('examineLogin sends no password without TLS', async () => {
  seen.length = 0;
  const host = await relay({ disabledCommands: ['STARTTLS'] });
  const { status, message } = await look(`smtp://ann:right@${host}`);
  assert.equal(status, 'fail');
  assert.match(message, /^does not support STARTTLS/);
  assert.deepEqual(seen, []);
});

test('examineLogin accepts a local server without TLS or login', async () => {
  const host = await relay({ authOptional: true, disabledCommands: ['STARTTLS'] });
  const { status, message } = await look(`smtp://${host}`);
  assert.deepEqual([status, message], ['ok', 'accepts connections without a login']);
});

test('examineLogin gives up on a silent server in time', async () => {
  const { url } = await scriptedSmtp({ greeting: noReply });
  const begun = performance.now();
  const { status, message } = await look(url, 300);
  assert.equal(status, 'fail');
  assert.match(message, /^cannot be used: /);
  assert.ok(performance.now() - begun < 9000);
});

const clear = 'sent unencrypted (tls=none)';
const connections: [url: string, encrypted: boolean, said: string][] = [
  [
    'smtp://ann:x@mail.test?tls=none',
    false,
    `warn accepts the login, but the password and all emails are ${clear}`,
  ],
  ['smtp://mail.test', true, 'ok accepts connections without a login, encrypted'],
];
for (const [url, encrypted, said] of connections) {
  test(`judgeLogin says ${said.split(';')[0]} for ${url}`, () => {
    const { status, message } = judgeLogin(settingsFor(url), { encrypted });
    assert.equal(`${status} ${message}`, said);
  });
}
