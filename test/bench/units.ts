import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from '../../src/lib/db/db.ts';
import { startTemporary } from '../../src/lib/embedded-postgres/embedded.ts';
import { fanOut } from './fan-out.ts';
import { firstByte } from './first-byte.ts';
import { type Sink, startSink } from './mail.ts';
import { costOf, processorTimeOf, processorTimeOfPostgres } from './processor-time.ts';
import { median, number, type Section, table } from './report.ts';
import { type Scene, withScene } from './scene.ts';
import { readWrites, writesBetween } from './writes.ts';

const rounds = Number(process.env['BENCH_ROUNDS'] ?? 5);

type Round = Awaited<ReturnType<typeof oneRound>>;

/**
 * Measures CPU time of the service and of Postgres, including child processes, per unit of each kind of work, with
 * fsync on and off. Medians of rounds.
 */
export async function units(): Promise<Section[]> {
  const sections: Section[] = [];
  for (const durable of [true, false]) {
    const server = await startTemporary({ durable });
    try {
      const all: Round[] = [];
      for (let round = 1; round <= rounds; round += 1) {
        all.push(await oneRound(server.url));
        console.error(JSON.stringify({ durable, round, ...all.at(-1) }));
      }
      const title = `One unit of work, fsync ${durable ? 'on' : 'off'}, medians of ${rounds}`;
      sections.push({ title, lines: [...workTable(all), '', ...soonTable(all)] });
      if (durable) {
        const rest = await atRest(server.url);
        sections.push({ title: 'At rest', lines: rest });
      }
    } finally {
      await server.stop();
    }
  }
  return sections;
}

async function oneRound(server: string) {
  return {
    floor: await fixedFloor(server),
    mails10: await campaignMails(server, 10),
    mails20: await campaignMails(server, 20),
    fanOut: await fanOut(server),
    firstByte: await firstByte(server),
  };
}

type Work = {
  perSecond: number;
  service?: number;
  postgres?: number;
  walBytes?: number;
  commits?: number;
  rows?: number;
  hotShare?: number | null;
};

function workTable(all: readonly Round[]): string[] {
  const row = (what: string, of: (round: Round) => Work) => {
    const at = (name: keyof Work, digits = 0) => {
      const values = all.map((round) => of(round)[name]).filter((each) => each != null);
      return values.length === 0 ? '' : number(median(values), digits);
    };
    const sum = median(all.map(of).map(({ service = 0, postgres = 0 }) => service + postgres));
    return [
      what,
      `${at('perSecond')}/s`,
      at('service'),
      at('postgres'),
      number(sum),
      at('walBytes'),
      at('rows', 1),
      at('commits', 2),
      at('hotShare', 2),
    ];
  };
  return table(
    ['', 'rate', 'service µs', 'Postgres µs', 'both µs', 'WAL bytes', 'rows', 'commits', 'HOT'],
    [
      row('an email, 10 connections', ({ mails10 }) => mails10),
      row('an email, 20 connections', ({ mails20 }) => mails20),
      row('a delivery, 300 responses x 40 webhooks', ({ fanOut }) => fanOut),
      row('  the response itself', ({ fanOut }) => fanOut.answer),
      row('floor: a row read by its key', ({ floor }) => floor.read),
      row('floor: a row written and committed', ({ floor }) => floor.write),
    ],
  );
}

function soonTable(all: readonly Round[]): string[] {
  const at = (of: (round: Round['firstByte']) => number, digits = 1) =>
    number(median(all.map(({ firstByte }) => of(firstByte))), digits);
  return table(
    ['100 responses a second, one webhook', 'p50 ms', 'p99 ms', 'µs a response', 'commits'],
    [
      [
        'request to first byte',
        at(({ fromRequest }) => fromRequest.p50),
        at(({ fromRequest }) => fromRequest.p99),
        at(({ service, postgres }) => service + postgres, 0),
        at(({ commits }) => commits, 2),
      ],
      [
        'accepted to first byte',
        at(({ fromAcceptance }) => fromAcceptance.p50),
        at(({ fromAcceptance }) => fromAcceptance.p99),
        '',
        '',
      ],
    ],
  );
}

const starts = 5;
const quietAfterMs = 10_000;
const quietSeconds = 10;

/** Measures the time until the service is ready, and what it and Postgres use while idle. */
async function atRest(server: string): Promise<string[]> {
  const ready: number[] = [];
  for (let start = 0; start < starts; start += 1) ready.push(await readyMs(server));
  const rest = await withScene(server, {}, async ({ service, parts }) => {
    await sleep(quietAfterMs);
    const { us } = await costOf({ units: quietSeconds, parts }, () => sleep(quietSeconds * 1000));
    return { us, privateMegabytes: service.privateMegabytes() ?? Number.NaN };
  });
  return table(
    ['', 'measured'],
    [
      [`ready, median of ${starts}`, `${number(median(ready))} ms`],
      ['private memory after 20 s', `${number(rest.privateMegabytes, 1)} MB`],
      ['CPU time a second, service', `${number(rest.us.service / 1000, 1)} ms`],
      ['CPU time a second, Postgres', `${number(rest.us.postgres / 1000, 1)} ms`],
    ],
  );
}

/** The schema already exists, because creating it is not part of a start. */
const readyMs = (server: string) => withScene(server, {}, ({ restart }) => restart());

const requests = 20;
const contactsEach = 1000;
const atOnce = 10;
const warmUpRequests = 2;

/** Sends 20,000 mails in twenty requests, ten at a time, over this number of connections. */
async function campaignMails(server: string, connections: number) {
  const sink = await startSink();
  const settings = { ASKBACK_SMTP_URL: `${sink.url}?tls=none&connections=${connections}` };
  try {
    return await withScene(server, settings, async (scene) => {
      await sendAll(scene, warmUpRequests);
      await mailsAt(sink);
      const mails = requests * contactsEach;
      const before = await readWrites(scene.db);
      const { us } = await costOf({ units: mails, parts: scene.parts }, () =>
        sendAll(scene, requests),
      );
      const { count, firstAt, lastAt } = await mailsAt(sink);
      if (count !== mails) throw new Error(`${count} mails arrived`);
      const writes = writesBetween(before, await readWrites(scene.db), mails);
      return { perSecond: (mails * 1000) / (lastAt - firstAt), ...us, ...writes };
    });
  } finally {
    await sink.worker.terminate();
  }
}

async function sendAll(scene: Scene, requests: number) {
  const organization = await scene.makeOrganization();
  const surveys: string[] = [];
  for (let n = 0; n < requests; n += 1) surveys.push(await organization.makeSurvey());
  const worker = async () => {
    for (let id = surveys.pop(); id; id = surveys.pop()) {
      const body = { contacts: contactsOf(id) };
      const { data } = (await organization.call(`/api/v1/surveys/${id}/send`, body)) as {
        data: { sent: number };
      };
      if (data.sent !== contactsEach) throw new Error(`a send sent ${data.sent} mails`);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

const contactsOf = (surveyId: string) =>
  Array.from({ length: contactsEach }, (_, n) => ({
    email: `person${n}.${surveyId.slice(0, 8)}@people.example`,
    name: `Person ${n}`,
  }));

/** The number of mails since the last request, and the times of the first and the last. */
async function mailsAt({ worker }: Sink) {
  worker.postMessage('arrived');
  const [arrived] = (await once(worker, 'message')) as [
    { count: number; firstAt: number; lastAt: number },
  ];
  return arrived;
}

const connections = 8;
const seconds = 1;
const rows = 1000;

/**
 * Fixed statements that do not depend on the service: a read by key, and a committed write. They make results of
 * different days comparable.
 */
async function fixedFloor(server: string) {
  const db = connect(server, { connections });
  try {
    await db`drop table if exists bench_floor`;
    await db`create table bench_floor (id int primary key generated always as identity, body text not null)`;
    await db`insert into bench_floor (body) select repeat('x', 200) from generate_series(1, ${rows}::int)`;
    const parts = {
      service: processorTimeOf(process.pid),
      postgres: await processorTimeOfPostgres(db),
    };
    const body = 'x'.repeat(200);
    const read = () =>
      db`select id, body from bench_floor where id = ${1 + ((next++ * 7919) % rows)}`;
    const write = () => db`insert into bench_floor (body) values (${body})`;
    let next = 0;
    await repeat(read, 0.2);
    return { read: await measure(read), write: await measure(write) };

    async function measure(work: () => Promise<unknown>) {
      const { result, ms, us } = await costOf({ units: 1, parts }, () => repeat(work, seconds));
      const each = (total: number) => total / result;
      return {
        perSecond: (result * 1000) / ms,
        service: each(us.service),
        postgres: each(us.postgres),
      };
    }
  } finally {
    await db`drop table if exists bench_floor`;
    await db.end();
  }
}

async function repeat(work: () => Promise<unknown>, forSeconds: number): Promise<number> {
  const end = performance.now() + forSeconds * 1000;
  let done = 0;
  const worker = async () => {
    while (performance.now() < end) {
      await work();
      done += 1;
    }
  };
  await Promise.all(Array.from({ length: connections }, worker));
  return done;
}
