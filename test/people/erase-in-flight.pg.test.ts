import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { SMTPServer } from 'smtp-server';
import { createSecrets } from '../../src/lib/crypto/secrets.ts';
import { finishErasure } from '../../src/people/erase.ts';
import { noErasureFile } from '../../src/people/receipts-file.ts';
import { makeClient, makeSurvey } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';
import { dumpTables } from '../support/probe/dump.ts';
import { until } from '../support/probe/until.ts';
import { addressIn, secretKey, startService } from '../support/processes/program.ts';

/** Erases a person while the mail server has the mail and has not replied. */
const { db, url } = await testDatabase();
const key = Buffer.from(secretKey, 'base64');

type Reply = { at: 'address' | 'message'; error: (Error & { responseCode: number }) | null };

const refused = (responseCode: number, words: string) =>
  Object.assign(new Error(words), { responseCode });

const replies: Record<string, Reply> = {
  'takes the mail': { at: 'message', error: null },
  'knows no such mailbox': { at: 'address', error: refused(550, '5.1.1 no mailbox of Ada') },
  'refuses the mail': { at: 'message', error: refused(554, '5.7.1 spam for Ada') },
  'wants it later': { at: 'message', error: refused(451, '4.7.1 Ada is greylisted') },
};

/** Replies about an address on demand. */
const waiting = new Map<string, () => void>();
const mails: string[] = [];
const server = new SMTPServer({
  authOptional: true,
  disabledCommands: ['STARTTLS', 'AUTH'],
  onRcptTo({ address }, _session, done) {
    const { at, error } = replyTo(address);
    if (at === 'address') waiting.set(address, () => done(error));
    else done();
  },
  onData(stream, { envelope }, done) {
    const { address } = envelope.rcptTo[0]!;
    mails.push(address);
    stream.resume().on('end', () => waiting.set(address, () => done(replyTo(address).error)));
  },
});
server.on('error', () => {});
server.listen(0, '127.0.0.1');
await once(server.server, 'listening');
after(() => server.close());

const service = startService({
  DATABASE_URL: url,
  ASKBACK_SECRET_KEY: secretKey,
  PORT: '0',
  LOG_LEVEL: 'trace',
  ASKBACK_SMTP_URL: `smtp://127.0.0.1:${(server.server.address() as AddressInfo).port}?tls=none`,
});
const address = addressIn(await service.ready());

const places = Object.keys(replies);
const emailOf = (place: number) => `wilhelmina.${place}@planted.test`;
const replyTo = (email: string) => replies[places[Number(/\d/.exec(email)![0])]!]!;

for (const [place, reply] of places.entries()) {
  test(`person who is erased before the mail server ${reply} leaves nothing`, async () => {
    const client = await makeClient(db);
    const email = emailOf(place);
    const survey = await makeSurvey(db, client.id);
    const call = async (method: string, path: string, body?: object) => {
      const headers = {
        'Content-Type': 'application/json',
        ...(body && { 'Idempotency-Key': randomUUID() }),
      };
      const init = body ? { body: JSON.stringify(body) } : {};
      const answer = await fetch(`${address}/api/v1${path}`, {
        method,
        headers: { ...client.write, ...headers },
        ...init,
      });
      return { status: answer.status, text: await answer.text() };
    };
    const contacts = [{ email, name: 'Wilhelmina Quartz' }];
    const sending = call('POST', `/surveys/${survey}/send`, { contacts });
    const early = sending.then(({ text }) =>
      assert.fail(`answered before the mail server: ${text}`),
    );
    const had = until('the server has the mail', () => waiting.has(email));
    await Promise.race([had, early]);
    early.catch(() => {});

    const erased = await call('DELETE', `/people/${email}`);
    assert.equal(erased.status, 200, erased.text);
    waiting.get(email)!();
    const sent = await sending;
    assert.equal(sent.status, 200, sent.text);
    const [row] = await db<{ id: string }[]>`select id from erasures where org_id = ${client.id}`;
    const finish = { db, secrets: createSecrets([key]), erasureFile: noErasureFile };
    await finishErasure(finish, { org_id: client.id, erasure_id: row!.id });

    const left = [...(await dumpTables(db, key))].filter(([, rows]) => names(rows).length > 0);
    assert.deepEqual(
      left.map(([table, rows]) => [table, names(rows)]),
      [],
    );
    assert.ok(mails.filter((to) => to === email).length <= 1);
    const again = await call('POST', `/surveys/${survey}/send?dry_run=true`, { contacts });
    assert.match(again.text, /"reason_code":"erased"/);
  });
}

test('logs contain no erased address', async () => {
  await service.stop();
  assert.deepEqual(names(service.stderr.lines.join('\n')), []);
});

const words = ['wilhelmina', 'quartz', 'planted.test', 'ada'];
const names = (text: string) =>
  words.filter((word) => new RegExp(`(?<![a-z0-9])${word}(?![a-z0-9])`, 'i').test(text));
