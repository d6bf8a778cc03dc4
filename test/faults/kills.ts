import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { SMTPServer } from 'smtp-server';
import type { Db } from '../../src/platform/db.ts';
import { makeOrganization, makeSurvey } from '../support/make.ts';
import type { Orders, Point } from './mail-points.ts';

const script = fileURLToPath(new URL('mail-process.ts', import.meta.url));
const people = 8;

/** What one kill left behind: of each address how its mail is recorded, and how often it arrived. */
export type Ledger = {
  killed: boolean;
  mails: { email: string; status: string | null; arrived: number }[];
  used: number;
};

/** A mail server that counts what it has said 250 to, by recipient. */
export async function startPost() {
  const arrivals = new Map<string, number>();
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    onData(stream, session, done) {
      stream.resume();
      stream.on('end', () => {
        for (const { address } of session.envelope.rcptTo) {
          arrivals.set(address, (arrivals.get(address) ?? 0) + 1);
        }
        done();
      });
    },
  });
  // A client that was killed is what this server is for.
  server.on('error', () => {});
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  const { port } = server.server.address() as AddressInfo;
  const close = () => new Promise<void>((closed) => server.close(closed));
  return { arrivals, url: `smtp://127.0.0.1:${port}?tls=none&connections=4`, close };
}

type Ground = { db: Db; databaseUrl: string; post: Awaited<ReturnType<typeof startPost>> };

/** Sends to a few people, is killed at the point, goes on elsewhere, and the caller asks again. */
export async function killAt({ db, databaseUrl, post }: Ground, point: Point): Promise<Ledger> {
  const orgId = await makeOrganization(db);
  const surveyId = await makeSurvey(db, orgId);
  const emails = Array.from({ length: people }, (_, n) => `p${n}-${surveyId}@people.test`);
  const orders = { databaseUrl, smtpUrl: post.url, orgId, surveyId };

  const killed = (await run({ ...orders, point, emails })) === 'SIGKILL';
  await run({ ...orders, point: 'nowhere', emails: [] });
  await run({ ...orders, point: 'nowhere', emails });

  const rows = await db<{ email: string; status: string }[]>`
    select email, status from sends where org_id = ${orgId} and status <> 'failed'`;
  const statusOf = new Map(rows.map(({ email, status }) => [email, status]));
  const [usage] = await db<{ used: number }[]>`select used from send_usage where org_id = ${orgId}`;
  const mails = emails.map((email) => ({
    email,
    status: statusOf.get(email) ?? null,
    arrived: post.arrivals.get(email) ?? 0,
  }));
  return { killed, mails, used: usage?.used ?? 0 };
}

async function run(orders: Orders): Promise<string | null> {
  const child = spawn(process.execPath, ['--import', 'tsx', script, JSON.stringify(orders)], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
  if (code) throw new Error(`the sending process ended with ${code}`);
  return signal;
}

/** What must hold wherever it was killed, each as a sentence when it does not. */
export function broken({ killed, mails, used }: Ledger): string[] {
  const wrong = killed ? [] : ['the process was not killed'];
  for (const { email, status, arrived } of mails) {
    if (arrived > 1) wrong.push(`${email} arrived ${arrived} times`);
    if (status === 'sent' && arrived !== 1) wrong.push(`${email} is recorded as sent and is lost`);
    if (status !== 'sent' && status !== 'unknown') wrong.push(`${email} is left ${status}`);
  }
  if (used !== mails.length) wrong.push(`${used} of the month's quota are used`);
  return wrong;
}
