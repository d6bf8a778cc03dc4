import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A subscriber in its own process that accepts everything. Sends its port to the parent. */
const server = createServer((incoming, answer) => {
  incoming.resume().on('end', () => answer.end('ok'));
});
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
