import { backlogOf, webhooks, workOffBacklog } from './backlog.ts';
import { fanOut } from './fan-out.ts';
import { comparePosts } from './outbound.ts';
import { number, type Section, table, verdict } from './report.ts';

/** Measures the rate and the cost of deliveries to a receiver on this machine. */
export async function deliveries(server: string): Promise<Section[]> {
  const posts = await comparePosts();
  const backlog = await workOffBacklog(server, { analyzed: false });
  const analyzed = await workOffBacklog(server, { analyzed: true });
  const answered = await fanOut(server);
  return [
    { title: rates, lines: rateLines({ ...posts, ...backlog }) },
    { title: writes, lines: writeLines({ backlog, analyzed, answered }) },
  ];
}

const rates = `Deliveries: ${number(backlogOf)} of ${webhooks} webhooks, to a receiver on the same machine`;
const writes = 'Deliveries: writes to Postgres';

type Rates = Awaited<ReturnType<typeof comparePosts>> & Awaited<ReturnType<typeof workOffBacklog>>;

function rateLines({ rate, cpu, resident, bare, guarded }: Rates): string[] {
  const floor = (what: string, { perSecond, cpuMicroseconds }: typeof bare) => [
    what,
    `${number(perSecond)}/s`,
    number(cpuMicroseconds),
    '',
    '',
  ];
  return table(
    ['', 'rate', 'CPU µs', 'expected', ''],
    [
      ['deliveries', `${number(rate)}/s`, number(cpu), '4,000/s', verdict(rate >= 4000)],
      floor('floor: undici posts the same', bare),
      floor('the guarded client without Postgres', guarded),
      memory('resident memory after them', resident),
    ],
  );
}

const memory = (what: string, megabytes: number) => [
  what,
  `${number(megabytes)} MB`,
  '',
  'under 300 MB',
  verdict(megabytes < 300),
];

type Backlog = Awaited<ReturnType<typeof workOffBacklog>>;
type Answered = Awaited<ReturnType<typeof fanOut>>;
type Written = Backlog | Answered | Answered['answer'];

function writeLines(of: { backlog: Backlog; analyzed: Backlog; answered: Answered }): string[] {
  const row = (what: string, service: number, postgres: number, one: Written) => [
    what,
    number(service),
    number(postgres),
    number(one.walBytes),
    number(one.rows, 1),
    number(one.commits, 2),
    one.hotShare === null ? '' : number(one.hotShare, 2),
  ];
  const backlog = (what: string, one: Backlog) => row(what, one.cpu, one.postgresCpu, one);
  const { answered } = of;
  const { answer } = answered;
  return table(
    ['', 'service µs', 'Postgres µs', 'WAL bytes', 'rows', 'commits', 'HOT'],
    [
      row('of a response, 40 at a time', answered.service, answered.postgres, answered),
      row('  the response itself', answer.service, answer.postgres, answer),
      backlog('of a backlog, before an analyze', of.backlog),
      backlog('of a backlog, after an analyze', of.analyzed),
    ],
  );
}
