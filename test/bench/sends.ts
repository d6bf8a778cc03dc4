import { issueKey } from '../../src/keys/issue.ts';
import { benchDatabase } from './database.ts';
import { compareMail, startSink } from './mail.ts';
import { number, type Section, table, verdict } from './report.ts';
import { startService } from './service.ts';
import { addSurveys } from './surveys.ts';

const contactsPerRequest = 1000;
const requestsAtOnce = 10;

/** Mails to a sink on this machine, asked for through the API, one durable row each. */
export async function sends(server: string): Promise<Section[]> {
  const sink = await startSink();
  const floors = await compareMail(sink);
  const database = await benchDatabase(server);
  const smtp = `${sink.url}?tls=none&connections=20`;
  const service = await startService(database.url, { ASKBACK_SMTP_URL: smtp });
  try {
    const surveys = await addSurveys(database.db, { surveys: requestsAtOnce + 2, webhooks: false });
    const ask = async ({ orgId, id }: (typeof surveys)[number]) => {
      const { key } = await issueKey(database.db, orgId, { name: 'bench', permission: 'write' });
      return await sendAll(`http://127.0.0.1:${service.port}/api/v1/surveys/${id}/send`, key);
    };
    const [first, second, ...rest] = surveys;
    await ask(first!);
    const oneMs = await timed(() => ask(second!));
    const [cpu, before] = [service.cpuMs(), service.residentMegabytes()];
    const manyMs = await timed(() => Promise.all(rest.map(ask)));
    const mails = rest.length * contactsPerRequest;
    const perMail = ((service.cpuMs() - cpu) * 1000) / mails;
    const memory = { before, after: service.residentMegabytes() };
    const rate = (mails * 1000) / manyMs;
    return [{ title, lines: lines({ oneMs, rate, perMail, memory, floors }) }];
  } finally {
    await service.stop();
    await database.drop();
    await sink.worker.terminate();
  }
}

const title = `Sends: ${requestsAtOnce} requests of ${number(contactsPerRequest)} contacts, to a sink with 20 connections`;

async function timed(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

async function sendAll(url: string, key: string) {
  const contacts = Array.from({ length: contactsPerRequest }, (_, n) => ({
    email: `person${n}@people.example`,
    name: `Person ${n}`,
  }));
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'X-API-Key': key, 'Content-Type': 'application/json' },
    body: JSON.stringify({ contacts }),
  });
  const { data } = (await answer.json()) as { data?: { sent: number } };
  if (data?.sent !== contactsPerRequest) throw new Error(`a send sent ${data?.sent} mails`);
}

type Figures = {
  oneMs: number;
  rate: number;
  perMail: number;
  memory: { before: number | null; after: number | null };
  floors: Awaited<ReturnType<typeof compareMail>>;
};

function lines({ oneMs, rate, perMail, memory, floors }: Figures): string[] {
  const { bare, pool, fillMicroseconds } = floors;
  const part = rate / bare.perSecond;
  return [
    ...table(
      ['', 'measured', 'CPU µs a mail', 'expected', ''],
      [
        ['one request', `${number(oneMs)} ms`, '', 'under 1,000 ms', verdict(oneMs < 1000)],
        ['mails', `${number(rate)}/s`, number(perMail), '3,000/s', verdict(rate >= 3000)],
        ['of the floor', number(part, 2), '', '0.5', verdict(part >= 0.5)],
        [
          'floor: SMTPConnection, no database',
          `${number(bare.perSecond)}/s`,
          number(bare.cpuMicroseconds),
          '',
          '',
        ],
        [
          'our pool, no database',
          `${number(pool.perSecond)}/s`,
          number(pool.cpuMicroseconds),
          '',
          '',
        ],
        ['filling a mail', '', number(fillMicroseconds), '', ''],
      ],
    ),
    '',
    `Resident memory ${number(memory.before ?? Number.NaN)} MB before and ${number(memory.after ?? Number.NaN)} MB after the ten requests.`,
  ];
}
