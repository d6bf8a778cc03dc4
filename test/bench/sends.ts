import { medianClaimMs } from './claim.ts';
import { compareMail, startSink } from './mail.ts';
import { number, type Section, table, verdict } from './report.ts';
import {
  connections,
  contactsPerRequest,
  postgresCpuMs,
  requestsAtOnce,
  type SendScene,
  withSendScene,
} from './send-scene.ts';

/** Sends mails to a sink on this machine through the API, with a durable row per mail. */
export async function sends(server: string): Promise<Section[]> {
  const sink = await startSink();
  const floors = await compareMail(sink);
  await sink.worker.terminate();
  const claimMs = await medianClaimMs(server);
  const requests = 2 * requestsAtOnce + 2;
  const measured = await withSendScene(server, { requests }, measure);
  return [{ title, lines: lines({ ...measured, claimMs, floors }) }];
}

/** The first requests warm up compilers, plans and connections. */
async function measure({ service, database, ask, askMany }: SendScene) {
  await ask();
  const oneMs = await timed(ask);
  await askMany();
  const before = { service: service.cpuMs(), postgres: await postgresCpuMs(database) };
  const manyMs = await timed(askMany);
  const mails = requestsAtOnce * contactsPerRequest;
  const perMail = {
    service: ((service.cpuMs() - before.service) * 1000) / mails,
    postgres: (((await postgresCpuMs(database)) - before.postgres) * 1000) / mails,
  };
  return { oneMs, rate: (mails * 1000) / manyMs, perMail };
}

const title = `Sends: ${requestsAtOnce} requests of ${number(contactsPerRequest)} contacts, to a sink with ${connections} connections`;

async function timed(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

type Figures = {
  oneMs: number;
  claimMs: number;
  rate: number;
  perMail: { service: number; postgres: number };
  floors: Awaited<ReturnType<typeof compareMail>>;
};

function lines({ oneMs, claimMs, rate, perMail, floors }: Figures): string[] {
  const { bare, pool, fillMicroseconds } = floors;
  const part = rate / bare.perSecond;
  return [
    ...table(
      ['', 'measured', 'CPU µs an email', 'expected', ''],
      [
        ['one request', `${number(oneMs)} ms`, '', 'under 1,000 ms', verdict(oneMs < 1000)],
        ['its claim', `${number(claimMs)} ms`, '', 'at most 80 ms', verdict(claimMs <= 80)],
        ['mails', `${number(rate)}/s`, number(perMail.service), '3,000/s', verdict(rate >= 3000)],
        ['  the same in Postgres', '', number(perMail.postgres), '', ''],
        ['share of the floor', number(part, 2), '', '0.5', verdict(part >= 0.5)],
        [
          'floor: SMTPConnection, no database',
          `${number(bare.perSecond)}/s`,
          number(bare.cpuMicroseconds),
          '',
          '',
        ],
        [
          'our SMTP pool, no database',
          `${number(pool.perSecond)}/s`,
          number(pool.cpuMicroseconds),
          '',
          '',
        ],
        ['filling in an email', '', number(fillMicroseconds), '', ''],
      ],
    ),
  ];
}
