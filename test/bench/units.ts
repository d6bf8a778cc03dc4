import { startTemporary } from '../../src/lib/embedded-postgres/embedded.ts';
import { atRest } from './at-rest.ts';
import { campaignMails } from './campaign-mails.ts';
import { fanOut } from './fan-out.ts';
import { firstByte } from './first-byte.ts';
import { fixedFloor } from './fixed-floor.ts';
import { median, number, type Section, table } from './report.ts';

const rounds = Number(process.env['BENCH_ROUNDS'] ?? 5);

type Round = Awaited<ReturnType<typeof oneRound>>;

/**
 * What one unit of each kind of work costs: processor time of the service and of Postgres, whole process
 * trees, on a Postgres that waits for its disk and on one that does not. Medians of rounds.
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
      row('a mail, 10 connections', ({ mails10 }) => mails10),
      row('a mail, 20 connections', ({ mails20 }) => mails20),
      row('a delivery, 300 answers x 40 webhooks', ({ fanOut }) => fanOut),
      row('  of it the answer itself', ({ fanOut }) => fanOut.answer),
      row('floor: a row read by its key', ({ floor }) => floor.read),
      row('floor: a row written and committed', ({ floor }) => floor.write),
    ],
  );
}

function soonTable(all: readonly Round[]): string[] {
  const at = (of: (round: Round['firstByte']) => number, digits = 1) =>
    number(median(all.map(({ firstByte }) => of(firstByte))), digits);
  return table(
    ['100 answers a second, one webhook', 'p50 ms', 'p99 ms', 'µs an answer', 'commits'],
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
