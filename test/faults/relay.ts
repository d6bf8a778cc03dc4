import { setTimeout as sleep } from 'node:timers/promises';
import { connect, type Db } from '../../src/lib/db/db.ts';
import { makeClient, makeSurvey } from '../support/make/rows.ts';
import { freePort } from '../support/processes/free-port.ts';
import { type Postfix, startPostfix } from './postfix.ts';
import { balanceOf, countPutOff, wrongIn } from './relay-ledger.ts';
import { type Arrived, startRelaySink } from './relay-sink.ts';
import { createService, type Service } from './service.ts';

const batch = 100;
const bounceDomain = 'bounces.example';

type Ground = {
  db: Db;
  service: Service;
  postfix: Postfix;
  arrived: Arrived[];
  client: Awaited<ReturnType<typeof makeClient>>;
  surveyId: string;
};

/**
 * Sends to so many people through Postfix while the service is killed and Postfix stopped, and hands
 * back the reports that Postfix writes about what it could not deliver. Every twentieth address is one
 * that Postfix refuses, every hundredth one that only the next server refuses.
 */
export async function runRelay(databaseUrl: string, people: number) {
  const sink = await startRelaySink(0);
  const postfix = await startPostfix({ listens: freePort(), deliversTo: sink.port }).catch(
    async (error) => {
      await sink.close();
      throw error;
    },
  );
  const service = await createService(environment(databaseUrl, postfix.url));
  const db = connect(databaseUrl, { connections: 2 });
  try {
    await service.start();
    const client = await makeClient(db);
    const surveyId = await makeSurvey(db, client.id);
    const ground = { db, service, postfix, arrived: sink.arrived, client, surveyId };
    const emails = Array.from({ length: people }, (_, n) => addressOf(n));
    const requests = await sendAndBreak(ground, emails);
    const delivered = async () => (await postfix.queued()) === 0;
    await eventually('the relay has delivered all', delivered);
    const reports = await handReports(ground);
    const ledger = { requests, ...reports, ...(await balanceOf(ground)) };
    return { ledger, wrong: [...wrongIn(ledger), ...service.ended] };
  } finally {
    await service.kill();
    await postfix.end();
    await Promise.all([sink.close(), db.end({ timeout: 1 })]);
  }
}

function addressOf(n: number): string {
  if (n % 20 === 7) return `unknown${n}@people.test`;
  return n % 100 === 50 ? `p${n}@refused.test` : `p${n}@people.test`;
}

const environment = (databaseUrl: string, smtpUrl: string) => ({
  DATABASE_URL: databaseUrl,
  ASKBACK_SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
  ASKBACK_SMTP_URL: smtpUrl,
  ASKBACK_BOUNCE_DOMAIN: bounceDomain,
  ASKBACK_PUBLIC_URL: 'https://ask.example',
  ASKBACK_RATE_LIMIT: '100000',
  LOG_LEVEL: 'fatal',
});

/** Two callers post the list in batches; what breaks next depends on how far they have come. */
async function sendAndBreak(ground: Ground, emails: readonly string[]) {
  const batches = Array.from({ length: Math.ceil(emails.length / batch) }, (_, n) =>
    emails.slice(n * batch, (n + 1) * batch),
  );
  let [requests, done] = [0, 0];
  const caller = async () => {
    for (let own = batches.shift(); own; own = batches.shift()) {
      requests += await postUntilDone(ground, own);
      done += own.length;
    }
  };
  const breaking = breakAlong(ground, () => done / emails.length);
  await Promise.all([caller(), caller(), breaking]);
  return requests;
}

/** As a caller who wants everybody to be asked: again whenever it got no answer, or not everybody has a mail. */
async function postUntilDone({ service, client, surveyId }: Ground, emails: readonly string[]) {
  const contacts = emails.map((email) => ({ email }));
  let requests = 0;
  await eventually('every contact has an outcome', async () => {
    requests += 1;
    const answer = await fetch(`${service.address}/api/v1/surveys/${surveyId}/send`, {
      method: 'POST',
      headers: { ...client.write, 'Content-Type': 'application/json' },
      body: JSON.stringify({ contacts }),
    }).catch(() => undefined);
    if (!answer || answer.status === 503) return false;
    if (answer.status !== 200) throw new Error(`answered ${answer.status}`);
    const { data } = (await answer.json()) as { data: { results: Result[] } };
    return data.results.every(isFinal);
  });
  return requests;
}

type Result = { status: string; reason_code?: string };

const isFinal = ({ status, reason_code }: Result) =>
  status === 'sent' || (status === 'duplicate' && reason_code !== 'in_flight');

/** A kill, a restart of the relay that first puts everybody off, a stop in order, a kill, a restart. */
async function breakAlong({ service, postfix }: Ground, progress: () => number) {
  const restartRelay = async () => {
    await postfix.stop();
    await postfix.start();
  };
  const putOff = async () => {
    postfix.putOff(true);
    await restartRelay();
    await eventually('somebody is put off', async () => countPutOff(postfix.log()) > 0);
    postfix.putOff(false);
    await restartRelay();
  };
  const killed = () => service.kill().then(service.start);
  const stopped = () => service.stop().then(service.start);
  for (const [from, breakIt] of [
    [0.1, killed],
    [0.25, putOff],
    [0.45, stopped],
    [0.6, killed],
    [0.75, restartRelay],
  ] as const) {
    await eventually(`${from} of the mails are answered`, async () => progress() >= from);
    await breakIt();
  }
}

/** Hands in what came back to the return addresses, as the owner of that domain would. */
async function handReports({ service, client, arrived }: Ground) {
  const reports = arrived.filter(({ to }) => to.endsWith(`@${bounceDomain}`));
  let bounced = 0;
  for (const { raw } of reports) {
    const answer = await fetch(`${service.address}/api/bounces`, {
      method: 'POST',
      headers: { ...client.write, 'Content-Type': 'message/rfc822' },
      body: Buffer.from(raw, 'latin1'),
    });
    const { data } = (await answer.json()) as { data: { matched: boolean; action: string } };
    if (data.matched && data.action === 'bounced') bounced += 1;
  }
  return { reports: reports.length, reports_understood: bounced };
}

const patienceMs = 180_000;
const lookEveryMs = 50;

async function eventually(what: string, check: () => Promise<boolean>) {
  const late = performance.now() + patienceMs;
  while (!(await check())) {
    if (performance.now() > late) throw new Error(`waited in vain until ${what}`);
    await sleep(lookEveryMs);
  }
}
