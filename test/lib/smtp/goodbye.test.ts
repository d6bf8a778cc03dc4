import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSmtpPool } from '../../../src/lib/smtp/pool.ts';
import { noReply, scriptedSmtp, settingsFor } from '../../support/fakes/smtp-server.ts';

const envelope = { from: 'hallo@baecker.example', to: 'ada@example.com' };
const message = Buffer.from('Subject: hello\r\n\r\nbody\r\n');
const EHLO = '250-sink\r\n250 PIPELINING';

for (const [MAIL, kind] of [
  ['421 4.3.2 closing', 'refused'],
  ['420 4.3.2 later', 'lost'],
  ['422 4.3.2 later', 'lost'],
] as const) {
  test(`what a server leaves unsaid after ${MAIL.slice(0, 3)} is ${kind === 'refused' ? 'not ' : ''}waited for`, async () => {
    const server = await scriptedSmtp({ EHLO, MAIL, RCPT: noReply, DATA: noReply });
    const patience = { silenceTimeoutMs: 60_000, wholeTimeoutMs: kind === 'lost' ? 200 : 20_000 };
    const pool = createSmtpPool(settingsFor(server.url, patience));
    const outcome = await pool.send(envelope, message);
    await pool.close();
    assert.equal(outcome.kind, kind);
  });
}
