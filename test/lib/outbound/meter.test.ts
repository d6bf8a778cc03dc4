import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { test } from 'node:test';
import { answerTooLarge, limitAnswer } from '../../../src/lib/outbound/connect.ts';

/** A socket that receives responses of the given sizes, each of which is read completely. */
function answered() {
  const arrives = new Duplex({
    read() {},
    write: (_chunk, _encoding, done) => done(),
    highWaterMark: 1024 * 1024,
  });
  let broken: Error | undefined;
  arrives.on('error', (error) => {
    broken = error;
  });
  const socket = limitAnswer(arrives as unknown as Socket);
  const read = (bytes: number) => {
    arrives.push(Buffer.alloc(bytes));
    let taken = 0;
    for (let piece = socket.read(); piece !== null; piece = socket.read()) taken += piece.length;
    return taken;
  };
  return { socket, read, broken: () => broken ?? arrives.errored };
}

const most = 256 * 1024;

test('an answer of 256 KiB is read completely', () => {
  const { socket, read, broken } = answered();
  for (let answer = 0; answer < 2; answer++) {
    socket.write('a request');
    assert.equal(read(most - 1) + read(1), most);
    assert.equal(broken(), null);
  }
});

test('an answer above 256 KiB closes the connection', () => {
  const { socket, read, broken } = answered();
  socket.write('a request');
  read(most);
  assert.equal(read(1), 0);
  assert.equal(broken(), answerTooLarge);
});
