import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { examineLogin, judgeLogin } from '../../src/operations/doctor-mail.ts';
import { noReply, scriptedSmtp, settingsFor } from '../support/fakes/smtp-server.ts';

const seen: string[] = [];

/** A well-behaved server that writes down how far somebody got. */
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

test('a login over TLS is well, and no mail is begun', async () => {
  seen.length = 0;
  const host = await relay();
  const { name, status, message } = await look(`smtp://ann:right@${host}?verify=no`);
  assert.deepEqual([name, status], [`SMTP ${host}`, 'warn']);
  assert.equal(message, 'takes the login, encrypted; but verify=no lets anybody pose as it');
  assert.deepEqual(seen, ['login ann']);
});

test('a certificate without a known issuer', async () => {
  const { status, message } = await look(`smtps://ann:right@${await relay({ secure: true })}`);
  assert.equal(status, 'fail');
  assert.match(message, /^cannot be used: .*certificate/);
});

test('a wrong password is reported in the words of the server', async () => {
  const { status, message } = await look(`smtp://ann:wrong@${await relay()}?verify=no`);
  assert.equal(status, 'fail');
  assert.match(message, /^does not accept the user or the password: 535 .*no such user/);
  assert.doesNotMatch(message, /wrong/);
});

test('a server without TLS gets no password', async () => {
  seen.length = 0;
  const host = await relay({ disabledCommands: ['STARTTLS'] });
  const { status, message } = await look(`smtp://ann:right@${host}`);
  assert.equal(status, 'fail');
  assert.match(message, /^does not encrypt by STARTTLS/);
  assert.deepEqual(seen, []);
});

test('a server of the own machine needs neither', async () => {
  const host = await relay({ authOptional: true, disabledCommands: ['STARTTLS'] });
  const { status, message } = await look(`smtp://${host}`);
  assert.deepEqual([status, message], ['ok', 'takes connections, without a login']);
});

test('a server that sends no greeting is given up in time', async () => {
  const { url } = await scriptedSmtp({ greeting: noReply });
  const begun = performance.now();
  const { status, message } = await look(url, 300);
  assert.equal(status, 'fail');
  assert.match(message, /^cannot be used: /);
  assert.ok(performance.now() - begun < 9000);
});

const clear = 'over the network unencrypted (tls=none)';
const connections: [url: string, encrypted: boolean, said: string][] = [
  [
    'smtp://ann:x@mail.test?tls=none',
    false,
    `warn takes the login; but the password and every mail go ${clear}`,
  ],
  ['smtp://localhost?tls=none', false, 'ok takes connections, without a login'],
  [
    'smtp://mail.test?verify=no',
    true,
    'warn takes connections, without a login, encrypted; but verify=no lets anybody pose as it',
  ],
  ['smtp://mail.test', true, 'ok takes connections, without a login, encrypted'],
];
for (const [url, encrypted, said] of connections) {
  test(`${url}, ${encrypted ? '' : 'not '}encrypted, ${said.split(';')[0]}`, () => {
    const { status, message } = judgeLogin(settingsFor(url), { encrypted });
    assert.equal(`${status} ${message}`, said);
  });
}
