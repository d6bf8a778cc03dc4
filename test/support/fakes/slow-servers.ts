import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo, Server } from 'node:net';
import { text } from 'node:stream/consumers';
import { after } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { SMTPServer } from 'smtp-server';

/** Long enough to keep a queue full, short enough that clients do not time out. */
const slowMs = 5000;

/** A slow subscriber and a slow mail server, until they are told to hurry. */
export async function startSlowServers() {
  const hurry = Promise.withResolvers<void>();
  const pace = () => Promise.race([hurry.promise, sleep(slowMs, undefined, { ref: false })]);
  const posts: string[] = [];
  const mails: string[] = [];

  const subscriber = createServer(async (request, response) => {
    await text(request);
    posts.push(String(request.headers['x-service-delivery-id']));
    await pace();
    response.end('ok');
  });
  const smtp = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    async onData(stream, session, done) {
      await text(stream);
      mails.push(...session.envelope.rcptTo.map(({ address }) => address));
      await pace();
      done();
    },
  });
  smtp.on('error', () => {}); // a killed client disconnects
  after(() => {
    subscriber.closeAllConnections();
    subscriber.close();
    smtp.close();
  });
  const ports = [await listening(subscriber), await listening(smtp.server)] as const;
  return {
    posts,
    mails,
    hurry: hurry.resolve,
    webhookUrl: `http://127.0.0.1:${ports[0]}/`,
    smtpUrl: `smtp://127.0.0.1:${ports[1]}?connections=2`,
  };
}

async function listening(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}
