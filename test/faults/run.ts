import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { inspect } from 'node:util';
import { bundle } from '../../ops/build/bundle.ts';
import { startEmbedded } from '../../src/lib/embedded-postgres/embedded.ts';
import { chosenBy } from '../support/only-words.ts';
import { type Plan, runDeliveryFaults } from './delivery-faults.ts';
import { killMails } from './mail.ts';
import type { Crowd } from './neighbour-crowd.ts';
import { crowds } from './neighbour-crowds.ts';
import { runNeighbours } from './neighbours.ts';

/** `make faults` runs each plan on its own Postgres. Arguments select plans by title. */
const plans: Plan[] = [
  {
    title: 'one process, killed every 6 s',
    answers: 6000,
    perSecond: 300,
    processes: 1,
    faults: [{ kind: 'kill', everyMs: 6000 }],
  },
  {
    title: 'two processes, one of them killed every 5 s',
    answers: 6000,
    perSecond: 300,
    processes: 2,
    faults: [{ kind: 'kill', everyMs: 5000 }],
  },
  {
    title: 'Postgres stopped at once and started again every 6 s',
    answers: 4000,
    perSecond: 300,
    processes: 1,
    faults: [{ kind: 'postgres restart', everyMs: 6000 }],
  },
  {
    title: 'ten connections ended a second',
    answers: 4000,
    perSecond: 300,
    processes: 1,
    faults: [{ kind: 'ended backend', everyMs: 100 }],
  },
];

/** Kills per point. `KILLS=10 make faults only=sending` takes a few minutes. */
const kills = Number(process.env['KILLS'] ?? 100);
const mail = `mail: a sending process, killed ${kills} times at each of five points of a send, a campaign, reminders and rounds`;
const neighbours = "neighbours: one organization's worst, another's ordinary use";
const neighboursOf = ({ shared }: Crowd) => `neighbours, ${shared}`;
const chosen = chosenBy(process.argv.slice(2), [
  ...plans.map(({ title }) => title),
  mail,
  ...crowds.map(neighboursOf),
]);
const chosenCrowds = crowds.filter((crowd) => chosen.includes(neighboursOf(crowd)));

/** Uses the bundle, because source code differs from the executable in compilation and garbage collection. */
const bundled = resolve('.cache/faults/bundle/askback.mjs');
if (!process.env['TEST_PROGRAM']) await bundle('src/main.ts', bundled);
process.env['TEST_PROGRAM'] ||= bundled;

const home = mkdtempSync(join(tmpdir(), 'askback-faults-'));
chmodSync(home, 0o755); // lets the account of Postgres in, when run as root
const dataDir = join(home, 'data');
const start = () => startEmbedded({ program: 'askback', dataDir, keepRoot: true, say: () => {} });
let server = await start();

async function restartPostgres() {
  const [pid] = readFileSync(join(dataDir, 'cluster', 'postmaster.pid'), 'utf8').split('\n');
  process.kill(Number(pid), 'SIGQUIT');
  await server.stop();
  server = await start();
}

try {
  for (const plan of plans.filter(({ title }) => chosen.includes(title))) {
    const ledger = await runDeliveryFaults({ url: server.url, restartPostgres }, plan);
    console.log(plan.title, inspect(ledger, { depth: 3 }));
    if (isWrong(ledger)) process.exitCode = 1;
  }
  if (chosen.includes(mail)) {
    console.log(mail);
    const table: object[] = [];
    for await (const { counts, wrong } of killMails(server.url, kills)) {
      table.push(counts);
      complain(wrong);
      console.log(counts.cause, counts.point, `${counts.kills} kills in ${counts.seconds} s`);
    }
    console.table(table);
  }
  if (chosenCrowds.length > 0) {
    console.log(neighbours);
    const table: object[] = [];
    for await (const { counts, wrong } of runNeighbours(server.url, chosenCrowds)) {
      table.push(counts);
      complain(wrong);
    }
    console.table(table);
  }
} finally {
  await server.stop();
  rmSync(home, { recursive: true, force: true });
}
process.exit();

function complain(wrong: readonly string[]) {
  if (wrong.length > 0) process.exitCode = 1;
  for (const sentence of wrong.slice(0, 20)) console.log(`WRONG: ${sentence}`);
}

function isWrong(ledger: Awaited<ReturnType<typeof runDeliveryFaults>>): boolean {
  const { acknowledged_but_lost, missing, invented, undelivered } = ledger;
  const tooOften = ledger.duplicates > ledger.in_flight_at_faults;
  const tooLate = Object.values(ledger.resumed_ms).some(({ slowest, limit }) => slowest > limit);
  const wrong = acknowledged_but_lost + missing + invented + undelivered;
  return tooOften || tooLate || wrong + ledger.ended_by_themselves.length > 0;
}
