import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A subscriber that accepts everything, in a process of its own; it reports its port to who forked it. */
const server = createServer((incoming, answer) => {
  incoming.resume().on('end', () => answer.end('ok'));
});
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
