import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { test } from 'node:test';
import type SMTPConnection from 'nodemailer/lib/smtp-connection';
import { converse } from '../../../src/lib/smtp/connection.ts';

/** The reply of a server that sends these chunks in response to one command. */
async function replyTo(pieces: readonly string[]) {
  const socket = Object.assign(new EventEmitter(), { write: () => true });
  const connection = Object.assign(new EventEmitter(), {
    _socket: socket,
    close: () => connection.emit('end'),
  });
  const [reply] = converse(connection as unknown as SMTPConnection).say('NOOP');
  for (const piece of pieces) socket.emit('data', Buffer.from(piece));
  return await reply!;
}

const most = 64 * 1024;

for (const [bytes, isTaken] of [
  [most, true],
  [most + 1, false],
] as const) {
  test(`an unfinished reply of ${bytes} bytes is ${isTaken ? 'accepted' : 'rejected'}`, async () => {
    const line = '250-a line\r';
    const last = '250 '.padEnd(bytes - 100 * line.length, 'x');
    const reply = await replyTo([`${line}\n`.repeat(100), last, '\r\n']);
    assert.equal('code' in reply && reply.code === 250, isTaken);
  });
}
