import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { SMTPServer } from 'smtp-server';

/** One post as a subscriber saw it. */
export type Arrival = {
  webhook: string;
  deliveryId: string;
  responseId: string;
  at: number;
  genuine: boolean;
};

/** Long enough that some posts are always under way when something breaks. */
const answerAfterMs = 20;

/** Subscribers, each at a path of its own, that accept everything and remember it. */
export async function startSubscribers() {
  const arrivals: Arrival[] = [];
  const secrets = new Map<string, string>();

  const server = createServer(async (request, answer) => {
    const body = await text(request).catch(() => null);
    if (body === null) return; // cut off by a kill before all of it had come
    const webhook = request.url!.slice(1);
    const expected = createHmac('sha256', secrets.get(webhook) ?? '')
      .update(body)
      .digest('hex');
    arrivals.push({
      webhook,
      deliveryId: String(request.headers['x-service-delivery-id']),
      responseId: String(JSON.parse(body).responseId),
      at: Date.now(),
      genuine: request.headers['x-service-signature'] === expected,
    });
    setTimeout(() => answer.end('ok'), answerAfterMs);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  return {
    arrivals,
    urlOf: (webhook: string) => `http://127.0.0.1:${port}/${webhook}`,
    expect: (webhook: string, secret: string) => secrets.set(webhook, secret),
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** A mail server that counts the mails that it has accepted, by recipient. */
export async function startMailServer() {
  const arrivals = new Map<string, number>();
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    onData(stream, { envelope }, done) {
      stream.resume();
      stream.on('end', () => {
        for (const { address } of envelope.rcptTo) {
          arrivals.set(address, (arrivals.get(address) ?? 0) + 1);
        }
        done();
      });
    },
  });
  server.on('error', () => {}); // a killed client hangs up
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  const { port } = server.server.address() as AddressInfo;
  const close = () => new Promise<void>((closed) => server.close(closed));
  return { arrivals, url: `smtp://127.0.0.1:${port}?tls=none&connections=4`, close };
}
