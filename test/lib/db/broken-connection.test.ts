import assert from 'node:assert/strict';
import { once } from 'node:events';
import net, { type AddressInfo } from 'node:net';
import { test } from 'node:test';
import { connect, isDatabaseAway } from '../../../src/lib/db/db.ts';

/** What Postgres says to a client that it lets in: no password is needed, and it is ready. */
const welcome = Buffer.from('R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I', 'latin1');

test('a connection that breaks at its first statement is an error of that statement alone', async (t) => {
  const server = net.createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => {
      socket.once('data', () => socket.resetAndDestroy());
      socket.write(welcome);
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const db = connect(`postgres://any@127.0.0.1:${port}/any`, { connections: 1 });
  t.after(() => db.end({ timeout: 0 }));
  await assert.rejects(db`select 1`, isDatabaseAway);
});
