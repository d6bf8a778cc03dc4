import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { dkimVerify } from 'mailauth/lib/dkim/verify.js';
import PostalMime from 'postal-mime';
import { SMTPServer } from 'smtp-server';
import { makeClient, makeSurvey } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';
import { until } from '../support/probe/until.ts';
import { addressIn, secretKey, startService } from '../support/processes/program.ts';

const { db, url } = await testDatabase();
const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });

/** A mail server that keeps its messages, and replies to a message to `slow` on demand. */
async function mailServer() {
  const mails: { from: string; to: string; raw: Buffer }[] = [];
  const held: (() => void)[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    onData(stream, { envelope }, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const to = envelope.rcptTo[0]!.address;
        const from = envelope.mailFrom ? envelope.mailFrom.address : '';
        const take = () => {
          mails.push({ from, to, raw: Buffer.concat(chunks) });
          done();
        };
        if (to.startsWith('slow')) held.push(take);
        else take();
      });
    },
  });
  server.on('error', () => {});
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  after(() => server.close());
  const { port } = server.server.address() as AddressInfo;
  return { mails, held, url: `smtp://127.0.0.1:${port}?tls=none` };
}

async function scene(over: Record<string, string> = {}) {
  const post = await mailServer();
  const start = () =>
    startService({
      DATABASE_URL: url,
      ASKBACK_SECRET_KEY: secretKey,
      ASKBACK_PUBLIC_URL: 'https://ask.acme.test',
      ASKBACK_SMTP_URL: post.url,
      PORT: '0',
      ...over,
    });
  const client = await makeClient(db);
  const survey = await makeSurvey(db, client.id, { question_text: 'Wie war’s, Zoë?' });
  const service = start();
  const address = addressIn(await service.ready());
  const send = (people: string[], init: RequestInit = {}) =>
    fetch(`${address}/api/v1/surveys/${survey}/send`, {
      method: 'POST',
      headers: { ...client.write, 'Content-Type': 'application/json' },
      body: JSON.stringify({ contacts: people.map((email) => ({ email })) }),
      ...init,
    });
  const statuses = async () =>
    (
      await db<{ email: string; status: string }[]>`
      select email, status from mails where survey_id = ${survey} order by email`
    ).map(({ email, status }) => [email, status]);
  return { post, service, start, send, statuses };
}

test('email arrives signed and its links work', async () => {
  const { post, service, send } = await scene({
    ASKBACK_DKIM_DOMAIN: 'acme.test',
    ASKBACK_DKIM_SELECTOR: 's1',
    ASKBACK_DKIM_KEY: String(privateKey.export({ type: 'pkcs8', format: 'pem' })),
    ASKBACK_BOUNCE_DOMAIN: 'bounces.acme.test',
  });
  const answer = (await (await send(['ann@people.test'])).json()) as {
    data: { sent: number; contacts: { token: string }[] };
  };
  assert.equal(answer.data.sent, 1);
  const [mail] = post.mails;
  const read = await PostalMime.parse(mail!.raw);
  const header = (key: string) => read.headers.find((each) => each.key === key)?.value ?? '';
  const { token } = answer.data.contacts[0]!;
  assert.equal(read.subject, 'Wie war’s, Zoë?');
  assert.match(mail!.from, /^bounce\+[0-9a-f-]{36}@bounces\.acme\.test$/);
  assert.equal(header('list-unsubscribe'), `<https://ask.acme.test/u/${token}>`);
  assert.equal(header('list-unsubscribe-post'), 'List-Unsubscribe=One-Click');
  assert.ok(read.html?.includes(`https://ask.acme.test/s/${token}?score=9`));
  assert.ok(read.text?.includes(`https://ask.acme.test/u/${token}`));

  const key = String(publicKey.export({ type: 'spki', format: 'pem' })).replace(
    /-----.*-----|\s/g,
    '',
  );
  const resolver = async () => [[`v=DKIM1; k=rsa; p=${key}`]];
  const { results } = await dkimVerify(mail!.raw, { resolver });
  assert.equal(results[0]?.status.result, 'pass');
  assert.match(results[0]?.signingHeaders?.keys ?? '', /List-Unsubscribe-Post/i);
  assert.equal(await service.stop(), 0);
});

test('send completes when its client hangs up', async () => {
  const { post, service, send, statuses } = await scene();
  const hangUp = new AbortController();
  const answer = assert.rejects(
    send(['slow@people.test', 'quick@people.test'], { signal: hangUp.signal }),
  );
  await until('the slow one is on its way', () => post.held.length === 1);
  hangUp.abort();
  await answer;
  post.held[0]!();
  await until('both are recorded', async () =>
    (await statuses()).every(([, status]) => status === 'sent'),
  );
  assert.deepEqual(post.mails.map(({ to }) => to).sort(), [
    'quick@people.test',
    'slow@people.test',
  ]);
  assert.equal(await service.stop(), 0);
});

test('SIGTERM finishes mails in flight and sends the rest after a restart', async () => {
  const { post, service, start, send, statuses } = await scene({ LOG_LEVEL: 'debug' });
  const people = Array.from({ length: 31 }, (_, n) => `slow${n}@people.test`);
  const hangUp = new AbortController();
  const cutOff = assert.rejects(send(people, { signal: hangUp.signal }));
  await until('all connections are busy', () => post.held.length === 10);
  hangUp.abort();
  await cutOff;
  service.child.kill('SIGTERM');
  await service.stderr.next(/"part":"mails","msg":"stopped"/);
  for (const take of post.held.splice(0)) take();
  assert.equal(await service.exited, 0);
  const left = (await statuses()).map(([, status]) => status).sort();
  assert.deepEqual(left, [...Array(21).fill('claimed'), ...Array(10).fill('sent')]);
  assert.doesNotMatch(service.stderr.lines.join('\n'), /"level":"error"/);

  const again = start();
  await again.ready();
  await until('all are sent', async () => {
    for (const take of post.held.splice(0)) take();
    return (await statuses()).every(([, status]) => status === 'sent');
  });
  assert.deepEqual(post.mails.map(({ to }) => to).sort(), people.sort());
  assert.equal(await again.stop(), 0);
});
