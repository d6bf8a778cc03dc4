import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { SMTPServer } from 'smtp-server';

/** A request as the subscriber saw it. */
export type Arrival = {
  webhook: string;
  deliveryId: string;
  responseId: string;
  at: number;
  genuine: boolean;
};

/** Long enough that each fault meets some requests in flight. */
const answerAfterMs = 20;

/** Subscribers with a path each, which accept and record everything. */
export async function startSubscribers() {
  const arrivals: Arrival[] = [];
  const secrets = new Map<string, string>();

  const server = createServer(async (request, answer) => {
    const body = await text(request).catch(() => null);
    if (body === null) return; // a kill cut off the request
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

/** A mail server that counts accepted mails by recipient. */
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
  server.on('error', () => {}); // a killed client disconnects
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  const { port } = server.server.address() as AddressInfo;
  const close = () => new Promise<void>((closed) => server.close(closed));
  return { arrivals, url: `smtp://127.0.0.1:${port}?tls=none&connections=4`, close };
}
