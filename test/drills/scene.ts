import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';
import { connect, type Db } from '../../src/lib/db/db.ts';
import { startSubscribers } from '../faults/arrivals.ts';
import { environment, setScene } from '../faults/scene.ts';
import { createService, type Service } from '../faults/service.ts';
import { makeSurvey } from '../support/make/rows.ts';

export type DrillScene = {
  services: readonly Service[];
  /** Where callers ask: the services themselves, or a proxy in front of them. */
  addresses: readonly string[];
  client: { id: string; read: Record<string, string>; write: Record<string, string> };
  tokens: readonly string[];
  mailedSurvey: string;
  subscribers: Awaited<ReturnType<typeof startSubscribers>>;
  mails: readonly { to: string }[];
  close: () => Promise<void>;
};

type Staging = {
  databaseUrl: string;
  /** The one of several servers that takes writes now. */
  leaderUrl?: string;
  processes: number;
  answers: number;
  settings?: Readonly<Record<string, string>>;
};

/** Services on one database, with subscribers, a mail server, and a survey to answer and one to mail. */
export async function stage(staging: Staging): Promise<DrillScene> {
  const { databaseUrl, leaderUrl = databaseUrl, processes, answers, settings } = staging;
  const subscribers = await startSubscribers();
  const sink = await startRelaySink(0);
  const all = {
    ...environment(databaseUrl),
    ASKBACK_SMTP_URL: `smtp://127.0.0.1:${sink.port}?tls=none&connections=4`,
    ASKBACK_PUBLIC_URL: 'https://ask.example',
    ASKBACK_RATE_LIMIT: '1000000',
    ...settings,
  };
  const services = await Promise.all(Array.from({ length: processes }, () => createService(all)));
  const close = async () => {
    await Promise.all(services.map((service) => service.kill()));
    subscribers.stop();
    await sink.close();
  };
  try {
    // The first one alone makes the schema.
    for (const service of services) await service.start();
    const db = connect(leaderUrl, { connections: 1 });
    const address = services[0]!.address;
    const { client, tokens } = await setScene({ db, address, subscribers }, answers);
    const mailedSurvey = await makeSurvey(db, client.id);
    await sendFreely(db, client.id);
    await db.end({ timeout: 1 });
    const addresses = services.map((service) => service.address);
    const parts = { services, addresses, client, tokens, mailedSurvey, subscribers };
    return { ...parts, mails: sink.arrived, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function sendFreely(db: Db, orgId: string) {
  await db`update organizations set monthly_send_limit = 1000000 where id = ${orgId}`;
}

type Arrived = { to: string; raw: string };

/** Where the relay delivers to: keeps what arrives, and knows no address at `refused.test`. */
async function startRelaySink(port: number) {
  const arrived: Arrived[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    onRcptTo({ address }, _session, done) {
      if (!address.endsWith('@refused.test')) return done();
      const refusal = new Error(`5.1.1 <${address}>: no such mailbox here`);
      return done(Object.assign(refusal, { responseCode: 550 }));
    },
    onData(stream, { envelope }, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const raw = Buffer.concat(chunks).toString('latin1');
        arrived.push(...envelope.rcptTo.map(({ address }) => ({ to: address, raw })));
        done();
      });
    },
  });
  server.on('error', () => {}); // a relay that is stopped hangs up
  server.listen(port, '127.0.0.1');
  await once(server.server, 'listening');
  const bound = (server.server.address() as AddressInfo).port;
  const close = () => new Promise<void>((closed) => server.close(closed));
  return { arrived, port: bound, close };
}
