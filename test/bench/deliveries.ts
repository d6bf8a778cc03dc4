import { backlogOf, webhooks, workOffBacklog } from './backlog.ts';
import { benchDatabase } from './database.ts';
import { deliveryTimes, perSecond } from './delivery-times.ts';
import { emptyJobs } from './empty-jobs.ts';
import { fanOut } from './fan-out.ts';
import { comparePosts } from './outbound.ts';
import { number, type Section, table, verdict } from './report.ts';

/** Deliveries to a receiver on this machine: how many, and how soon. */
export async function deliveries(server: string): Promise<Section[]> {
  const posts = await comparePosts();
  const database = await benchDatabase(server);
  try {
    const jobs = await emptyJobs(database);
    const backlog = await workOffBacklog(server, { analyzed: false });
    const analyzed = await workOffBacklog(server, { analyzed: true });
    const answered = await fanOut(server);
    const spread = await deliveryTimes(database, { webhooks });
    const hot = await deliveryTimes(database, { webhooks: 1 });
    return [
      { title: rates, lines: rateLines({ ...posts, ...backlog, jobs }) },
      { title: writes, lines: writeLines({ backlog, analyzed, answered }) },
      { title: times, lines: timeLines({ spread, hot }) },
    ];
  } finally {
    await database.drop();
  }
}

const rates = `Deliveries: ${number(backlogOf)} of ${webhooks} webhooks, to a receiver on the same machine`;
const writes = 'Deliveries: what one makes Postgres write';
const times = `Deliveries: how soon, at ${perSecond} events a second`;

type Floors = Awaited<ReturnType<typeof comparePosts>> & {
  jobs: Awaited<ReturnType<typeof emptyJobs>>;
};
type Rates = Floors & Awaited<ReturnType<typeof workOffBacklog>>;

function rateLines({ rate, cpu, resident, bare, guarded, jobs }: Rates): string[] {
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
      floor('floor: Graphile runs empty jobs', jobs),
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
      row('of an answer, 40 at a time', answered.service, answered.postgres, answered),
      row('  of it the answer itself', answer.service, answer.postgres, answer),
      backlog('of a backlog, before an analyze', of.backlog),
      backlog('of a backlog, after an analyze', of.analyzed),
    ],
  );
}

type Times = Awaited<ReturnType<typeof deliveryTimes>>;

function timeLines({ spread, hot }: { spread: Times; hot: Times }): string[] {
  const soon = ({ p50, p99 }: Times['fromCommit']) => verdict(p50 < 10 && p99 < 60);
  const row = (what: string, { p50, p99 }: Times['fromCommit'], ...expected: [string, string]) => [
    what,
    number(p50, 1),
    number(p99, 1),
    ...expected,
  ];
  const rows = (of: string, { fromCommit, fromDue, retryLate }: Times) => [
    row(`${of}: commit to first byte`, fromCommit, 'p50 < 10, p99 < 60', soon(fromCommit)),
    row(`${of}: the same with the insert`, fromDue, '', ''),
    row(`${of}: a retry, from when it is due`, retryLate, 'p99 < 50', verdict(retryLate.p99 < 50)),
  ];
  return [
    ...table(
      ['', 'p50 ms', 'p99 ms', 'expected', ''],
      [...rows(`${webhooks} webhooks`, spread), ...rows('one webhook', hot)],
    ),
    '',
    `Events are committed when their moment has come, whatever became of those before; each fifth is refused once. The first two seconds are not counted. Resident memory ${number(hot.resident)} MB.`,
  ];
}
