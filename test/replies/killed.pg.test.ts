import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noReply, scriptedSmtp } from '../support/fakes/smtp-server.ts';
import { makeClient, makeContact, makeResponse, makeSurvey } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';
import { until } from '../support/probe/until.ts';
import { addressIn, secretKey, startService } from '../support/processes/program.ts';

const { db, url } = await testDatabase();

/** Starts the service, replies, and kills it when the mail server has seen this part of the email. */
async function killedAt(moment: 'EHLO' | 'dot') {
  let isSilent = true;
  const usual = { EHLO: '250 sink', dot: '250 2.0.0 queued' }[moment];
  const smtp = await scriptedSmtp({ [moment]: () => (isSilent ? noReply : usual) });
  const start = async () => {
    const service = startService({
      DATABASE_URL: url,
      ASKBACK_SECRET_KEY: secretKey,
      ASKBACK_PUBLIC_URL: 'https://ask.acme.test',
      ASKBACK_SMTP_URL: `${smtp.url}?tls=none`,
      PORT: '0',
    });
    return { service, address: addressIn(await service.ready()) };
  };
  const client = await makeClient(db);
  const of = { org_id: client.id, survey_id: await makeSurvey(db, client.id) };
  const response = await makeResponse(db, of, { contact_id: await makeContact(db, of) });
  const { service, address } = await start();
  const post = fetch(`${address}/api/v1/responses/${response}/replies`, {
    method: 'POST',
    headers: { ...client.write, 'Content-Type': 'application/json' },
    body: JSON.stringify({ text: 'Thanks' }),
  });
  const isThere = () =>
    moment === 'dot'
      ? smtp.seen.messages.length > 0
      : smtp.seen.commands.some((line) => line.startsWith('EHLO'));
  await until(`the mail server is at ${moment}`, isThere);
  service.child.kill('SIGKILL');
  await Promise.all([service.exited, assert.rejects(post)]);
  isSilent = false;

  const next = await start();
  const status = async () =>
    (await db<{ status: string }[]>`select status from replies where org_id = ${client.id}`)[0]!
      .status;
  await until('the reply has an outcome', async () =>
    ['sent', 'failed', 'unknown'].includes(await status()),
  );
  assert.equal(await next.service.stop(), 0);
  return { status: await status(), messages: smtp.seen.messages.length };
}

test('reply of a process killed before its email begins is sent', async () => {
  assert.deepEqual(await killedAt('EHLO'), { status: 'sent', messages: 1 });
});

test('reply of a process killed during its email is unknown and not repeated', async () => {
  assert.deepEqual(await killedAt('dot'), { status: 'unknown', messages: 1 });
});
