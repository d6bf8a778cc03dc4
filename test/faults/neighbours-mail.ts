import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { SMTPServer } from 'smtp-server';
import { connect, type Db } from '../../src/lib/db/db.ts';
import { makeClient, makeSurvey } from '../support/make/rows.ts';
import { environment } from './campaign.ts';
import { type Neighbours, timed } from './neighbours.ts';
import { createService } from './service.ts';

const exchangeMs = 500;
const connections = 10;
const requests = 5;
const contactsPerRequest = 1000;
const singleMails = 20;
const betweenMs = 1500;

/**
 * One organization sends 5,000 mails to a server that takes half a second for each. The other sends one
 * mail at a time.
 */
export const mailNeighbours: Neighbours = {
  shared: 'mail connections',
  async measure(databaseUrl) {
    const server = await startSlowServer();
    const smtp = `smtp://127.0.0.1:${server.port}?tls=none&connections=${connections}`;
    const service = await createService({ ...environment(databaseUrl), ASKBACK_SMTP_URL: smtp });
    const db = connect(databaseUrl, { connections: 2 });
    try {
      await service.start();
      const [many, other] = [await makeClient(db), await makeClient(db)];
      const send = (client: typeof many, contacts: string[]) =>
        sendTo(service.address, client.write, { db, orgId: client.id, contacts });
      const wrong: string[] = [];
      const single = async () => {
        const [result] = await send(other, ['ann@people.test']);
        if (result?.status !== 'sent') wrong.push(`a single mail: ${JSON.stringify(result)}`);
      };
      await single(); // the first connection and plans are no part of the comparison
      const idleMs: number[] = [];
      for (let n = 0; n < singleMails; n += 1) idleMs.push(await timed(single));

      const crowd = Array.from({ length: requests }, (_, n) =>
        send(
          many,
          Array.from({ length: contactsPerRequest }, (_, at) => `p${n}-${at}@a.test`),
        ),
      );
      await sleep(betweenMs);
      const crowdedMs: number[] = [];
      for (let n = 0; n < singleMails; n += 1) {
        crowdedMs.push(await timed(single));
        await sleep(betweenMs);
      }
      for (const result of (await Promise.all(crowd)).flat()) {
        if (result.reason_code === 'unknown_outcome') wrong.push(`unknown: ${result.email}`);
      }
      return { idleMs, crowdedMs, wrong };
    } finally {
      await service.kill();
      await db.end({ timeout: 1 });
      server.close();
    }
  },
};

type Result = { email: string; status: string; reason_code?: string };
type Sending = { db: Db; orgId: string; contacts: string[] };

/** A survey of its own for each call: to one survey an address is mailed once. */
async function sendTo(
  address: string,
  headers: Record<string, string>,
  { db, orgId, contacts }: Sending,
): Promise<Result[]> {
  const survey = await makeSurvey(db, orgId);
  const answer = await fetch(`${address}/api/v1/surveys/${survey}/send`, {
    method: 'POST',
    headers: { ...headers, 'Content-Type': 'application/json' },
    body: JSON.stringify({ contacts: contacts.map((email) => ({ email })) }),
  });
  const { data, error } = (await answer.json()) as { data?: { results: Result[] }; error?: string };
  if (!data) throw new Error(`a send was answered ${answer.status}: ${error}`);
  return data.results;
}

async function startSlowServer() {
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    onData(stream, _session, done) {
      stream.resume();
      stream.on('end', () => setTimeout(done, exchangeMs));
    },
  });
  server.on('error', () => {}); // the service hangs up when it is stopped
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  const { port } = server.server.address() as AddressInfo;
  return { port, close: () => server.close(() => {}) };
}
