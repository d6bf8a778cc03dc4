import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from '../../src/lib/db/db.ts';
import { type Line, serviceLines } from './books.ts';
import { createHome } from './programs.ts';
import { until } from './reach.ts';
import { type Read, type Reading, startReaders } from './readers.ts';
import { type DrillScene, stage } from './scene.ts';
import { type Standby, startWithStandby } from './standby.ts';

const mostLagSeconds = 1;
/** How far behind it goes on to replay. Short drills do not wait for it. */
const minuteDelay = '61s';
const knownWithinMs = 120_000;
const applyDelay = '700ms';
const slowestMs = 5000;
/** In short other work on the machine may delay reads. */
const slowestOfShortMs = 25_000;

/** One state of the replica: what is done to it, and what is known once it shows. */
type Phase = {
  what: string;
  isLong?: boolean;
  begin: () => Promise<void>;
  /** Matches what `/readyz` warns of; without it the replica is used. */
  warning?: RegExp;
  answers?: 'some' | 'none';
};

/** A replica of two processes lags, is paused, is a minute behind, dies and comes back, while organizations write and read. */
export async function failingReplica({ short }: { short: boolean }): Promise<Line[]> {
  const phaseMs = short ? 1200 : 8000;
  await using ends = new AsyncDisposableStack();
  const home = ends.adopt(createHome(), ({ remove }) => remove());
  const servers = ends.adopt(await startWithStandby(home.path), ({ end }) => end());
  const db = ends.adopt(connect(servers.url, { connections: 2 }), (it) => it.end({ timeout: 1 }));
  const settings = {
    ASKBACK_READ_DATABASE_URL: servers.standby.url,
    ASKBACK_READ_MAX_LAG_SECONDS: String(mostLagSeconds),
  };
  const staged = await stage({ databaseUrl: servers.url, processes: 2, answers: 1, settings });
  const scene = ends.adopt(staged, ({ close }) => close());
  const { reading, inFlight, stop } = await startReaders(db, scene.addresses);
  const lines: Line[] = [];
  const phases = phasesOf(servers.standby).filter(({ isLong }) => !(isLong && short));
  for (const phase of phases) {
    await phase.begin();
    await until(
      `${phase.what}: every process knows`,
      () => know(scene, phase.warning),
      knownWithinMs,
    );
    // A read may be on its way to the replica since before its process knew.
    await inFlight();
    lines.push(await watch(phase, { standby: servers.standby, reading, phaseMs }));
  }
  await stop();
  return [
    ...lines,
    ...totals(reading, short ? slowestOfShortMs : slowestMs),
    ...serviceLines(scene),
  ];
}

function phasesOf({ ask, kill, start }: Standby): Phase[] {
  const delay = async (time: string) => {
    await ask(`alter system set recovery_min_apply_delay = '${time}'`);
    await ask('select pg_reload_conf()');
  };
  return [
    { what: 'fresh', begin: async () => {}, answers: 'some' },
    { what: `lags by ${applyDelay}`, begin: () => delay(applyDelay), answers: 'some' },
    {
      what: `paused, and behind by more than ${mostLagSeconds} s`,
      begin: async () => {
        await delay('0');
        await ask('select pg_wal_replay_pause()');
      },
      warning: /seconds behind/,
      answers: 'none',
    },
    {
      what: `replays, and is behind by ${minuteDelay}`,
      isLong: true,
      begin: async () => {
        await delay(minuteDelay);
        await ask('select pg_wal_replay_resume()');
      },
      warning: /is ([6-9]\d|\d{3,}) seconds behind/,
      answers: 'none',
    },
    {
      what: 'has caught up',
      begin: async () => {
        await delay('0');
        await ask('select pg_wal_replay_resume()');
      },
      answers: 'some',
    },
    {
      what: 'killed',
      begin: kill,
      warning: /cannot be reached|lost a connection/,
      answers: 'none',
    },
    { what: 'back', begin: start, answers: 'some' },
  ];
}

/** Whether all processes use the replica, or warn of this. */
async function know({ addresses }: DrillScene, warning: RegExp | undefined): Promise<boolean> {
  const warnings = await Promise.all(
    addresses.map(async (address) => {
      const body = (await (await fetch(`${address}/readyz`)).json()) as {
        warnings?: { replica?: string };
      };
      return body.warnings?.replica;
    }),
  );
  return warnings.every((said) => (warning ? warning.test(said ?? '') : said === undefined));
}

type Watching = { standby: Standby; reading: Reading; phaseMs: number };

async function watch({ what, answers }: Phase, { standby, reading, phaseMs }: Watching) {
  const [before, from] = [standby.reads(), reading.reads.length];
  await sleep(phaseMs);
  if (answers === 'some') await until(`${what}: it is read`, async () => standby.reads() > before);
  const there = standby.reads() - before;
  const reads = reading.reads.slice(from);
  const counted = `${what}: of ${reads.length} reads (slowest ${slowestOf(reads)} ms) asked of the replica`;
  if (answers === 'none') return { what: counted, count: there, atMost: 0 };
  return { what: counted, count: there, atLeast: 1 };
}

function totals({ reads, writes, failedWrites }: Reading, slowest: number): Line[] {
  const count = (is: (read: Read) => boolean) => reads.filter(is).length;
  return [
    { what: 'writes acknowledged', count: writes - failedWrites, atLeast: 1 },
    { what: 'writes failed', count: failedWrites, atMost: 0 },
    { what: 'reads', count: reads.length, atLeast: 1 },
    {
      what: 'reads older than what their reader wrote',
      count: count((it) => it.isStale),
      atMost: 0,
    },
    { what: 'reads failed', count: count(({ status }) => status !== 200), atMost: 0 },
    {
      what: 'slowest read, also between these states, ms',
      count: slowestOf(reads),
      atMost: slowest,
    },
  ];
}

const slowestOf = (reads: readonly Read[]) => Math.round(Math.max(0, ...reads.map(({ ms }) => ms)));
