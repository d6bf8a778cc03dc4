import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scriptedSmtp } from '../support/fakes/smtp-server.ts';
import { makeClient, makeSurvey } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';
import { scrape } from '../support/probe/scrape.ts';
import { addressIn, secretKey, startService } from '../support/processes/program.ts';

const { db, url } = await testDatabase();
const environment = { DATABASE_URL: url, ASKBACK_SECRET_KEY: secretKey, PORT: '0' };
const client = await makeClient(db);

const post = async (address: string, path: string, body: object) => {
  const answer = await fetch(`${address}${path}`, {
    method: 'POST',
    headers: { ...client.write, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: answer.status, body: (await answer.json()) as never };
};

test('/readyz warns about a refusing mail server until it accepts', async () => {
  let greeting = '554 5.7.1 go away';
  const smtp = await scriptedSmtp({ greeting: () => greeting });
  const service = startService({ ...environment, ASKBACK_SMTP_URL: smtp.url });
  const address = addressIn(await service.ready());
  const survey = await makeSurvey(db, client.id);
  const send = async (email: string) => {
    const { body } = await post(address, `/api/v1/surveys/${survey}/send`, {
      contacts: [{ email }],
    });
    const { data } = body as { data: { results: { status: string; reason?: string }[] } };
    return data.results[0]!;
  };
  const warnings = async () => {
    const answer = await fetch(`${address}/readyz`);
    const { warnings } = (await answer.json()) as { warnings?: { mail?: string } };
    return [answer.status, warnings?.mail];
  };
  assert.deepEqual(await warnings(), [200, undefined]);

  const { status, reason } = await send('ann@people.test');
  assert.equal(status, 'failed');
  assert.match(
    reason ?? '',
    /^the mail server refuses the connection or login: .*554 5\.7\.1 go away/,
  );
  await send('bob@people.test');
  const [ready, warned] = await warnings();
  assert.equal(ready, 200);
  assert.match(String(warned), /^the mail server refuses/);
  assert.equal((await scrape(address)).value('askback_mail_server_up'), 0);

  greeting = '220 sink ready';
  assert.equal((await send('ann@people.test')).status, 'sent');
  assert.deepEqual(await warnings(), [200, undefined]);
  assert.equal((await scrape(address)).value('askback_mail_server_up'), 1);
  assert.equal(await service.stop(), 0);
  const lines = service.stderr.lines.filter((line) => line.includes('the mail server is'));
  assert.deepEqual(
    lines.map((line) => (line.includes('unavailable') ? 'begins' : 'ends')),
    ['begins', 'ends'],
  );
});

for (const [what, settings, status] of [
  ['takes a local webhook while only its machine can reach it', {}, 201],
  [
    'refuses a local webhook when it has a public URL',
    { ASKBACK_PUBLIC_URL: 'https://ask.example' },
    400,
  ],
] as const) {
  test(`the service ${what}`, async () => {
    const service = startService({ ...environment, ...settings });
    const address = addressIn(await service.ready());
    const wish = { url: 'http://127.0.0.1:8099/hook', events: ['response.received'] };
    assert.equal((await post(address, '/api/webhooks', wish)).status, status);
    assert.equal(await service.stop(), 0);
  });
}
