import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { now } from './clock.ts';

/** A subscriber in its own process. Reports when the first byte about each response arrived. */
const arrivals: Record<string, number> = {};
const server = createServer(async (request, answer) => {
  const at = now();
  const { responseId } = (await json(request)) as { responseId: string };
  arrivals[responseId] ??= at;
  answer.end('ok');
});
if (process.send) {
  server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
  process.on('message', () => process.send?.(arrivals));
}
