import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import type { SmtpSettings } from '../../../src/lib/smtp/settings.ts';
import { createSmtpPool } from '../../../src/lib/smtp/smtp.ts';
import { settingsFor } from '../../support/fakes/smtp-server.ts';

const envelope = { from: 'hallo@baecker.example', to: 'ada@example.com' };
const message = Buffer.from('Subject: hello\r\n\r\nbody\r\n');

/** A standard server with a self-signed certificate. */
async function relay(options: SMTPServerOptions) {
  const seen: { secure: boolean; user: string | undefined; raw: string }[] = [];
  const server = new SMTPServer({
    authOptional: true,
    logger: false,
    onAuth: ({ username, password }, _session, done) =>
      password === 'pass word/1'
        ? done(null, { user: username })
        : done(Object.assign(new Error('5.7.8 no'), { responseCode: 535 })),
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk) => chunks.push(chunk));
      stream.on('end', () => {
        const { secure, user } = session;
        seen.push({ secure, user, raw: Buffer.concat(chunks).toString('latin1') });
        done();
      });
    },
    ...options,
  });
  server.on('error', () => {});
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  after(() => server.close(() => {}));
  return { seen, host: `127.0.0.1:${(server.server.address() as AddressInfo).port}` };
}

async function sendTo(url: string, own: Partial<SmtpSettings> = {}) {
  const pool = createSmtpPool(settingsFor(url, own));
  const outcome = await pool.send(envelope, message);
  await pool.close();
  return outcome;
}

test('smtps connects with implicit TLS', async () => {
  const { host, seen } = await relay({ secure: true });
  assert.equal((await sendTo(`smtps://${host}?verify=no`)).kind, 'accepted');
  assert.deepEqual(seen, [{ secure: true, user: undefined, raw: message.toString() }]);
});

test('a self-signed certificate is rejected unless verify=no', async () => {
  const { host, seen } = await relay({ secure: true });
  const outcome = await sendTo(`smtps://${host}`);
  assert.equal(outcome.kind, 'lost');
  assert.match(outcome.reason, /certificate/);
  assert.deepEqual(seen, []);
});

test('a password is sent after STARTTLS', async () => {
  const { host, seen } = await relay({});
  assert.equal((await sendTo(`smtp://ada:pass%20word%2F1@${host}?verify=no`)).kind, 'accepted');
  assert.partialDeepStrictEqual(seen, [{ secure: true, user: 'ada' }]);
});

test('a server without STARTTLS gets no password when encryption is required', async () => {
  const { host, seen } = await relay({ hideSTARTTLS: true, disabledCommands: ['STARTTLS'] });
  assert.notEqual((await sendTo(`smtp://ada:pass%20word%2F1@${host}?verify=no`)).kind, 'accepted');
  assert.deepEqual(seen, []);
});

test('a wrong password is reported with the server’s reply', async () => {
  const { host } = await relay({});
  const outcome = await sendTo(`smtp://ada:wrong@${host}?verify=no`);
  assert.partialDeepStrictEqual(outcome, {
    kind: 'refused',
    permanent: true,
    code: 535,
    unknownMailbox: false,
    about: 'server',
  });
});

test('a connection is encrypted by default if the server can', async () => {
  const { host, seen } = await relay({});
  assert.equal((await sendTo(`smtp://${host}`)).kind, 'accepted');
  assert.equal(seen[0]?.secure, true);
});

test('a connection is plain by default if the server cannot encrypt', async () => {
  const { host, seen } = await relay({ hideSTARTTLS: true });
  assert.equal((await sendTo(`smtp://${host}`)).kind, 'accepted');
  assert.equal(seen[0]?.secure, false);
});
