import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { now } from './clock.ts';

/** Each event of so many is refused once, and so has a retry. */
export const refusedOnceOf = 5;

/** When an event came, for each of the times that it did. */
export type Arrivals = Record<number, number[]>;

/** A subscriber in a process of its own, which reports on demand when everything came. */
const arrivals: Arrivals = {};
const server = createServer(async (request, answer) => {
  const at = now();
  const { number } = (await json(request)) as { number: number };
  const times = [...(arrivals[number] ?? []), at];
  arrivals[number] = times;
  const refused = number % refusedOnceOf === 0 && times.length === 1;
  answer.writeHead(refused ? 503 : 200).end();
});
if (process.send) {
  server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
  process.on('message', () => process.send?.(arrivals));
}
