import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { connect, type Db } from '../../src/lib/db/db.ts';
import { makeClient, makeSurvey } from '../support/make/rows.ts';
import { startCluster } from '../support/processes/cluster.ts';
import { type Line, serviceLines } from './books.ts';
import { postmasterOf, signalAll, treeOf } from './programs.ts';
import { until } from './reach.ts';
import { type DrillScene, stage } from './scene.ts';

const mostLagSeconds = 1;
/** A long delay of the replay. Short drills skip it. */
const minuteDelay = '61s';
const knownWithinMs = 120_000;
const applyDelay = '700ms';
const slowestMs = 5000;
/** Short drills run on busy machines, which may delay reads. */
const slowestOfShortMs = 25_000;

/** A state of the replica: how to cause it, and its expected effects. */
type Phase = {
  what: string;
  isLong?: boolean;
  begin: () => Promise<void>;
  /** The expected warning of `/readyz`. Without a warning, the replica is used. */
  warning?: RegExp;
  answers?: 'some' | 'none';
};

/**
 * A replica lags, is paused, falls a minute behind, dies and returns, while organizations write and read through two
 * processes.
 */
export async function failingReplica({ short }: { short: boolean }): Promise<Line[]> {
  const phaseMs = short ? 1200 : 8000;
  await using ends = new AsyncDisposableStack();
  const servers = await startWithStandby(ends);
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
    // A read may have been sent to the replica before its process noticed.
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

/** True if all processes use the replica, or warn with this text. */
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

/** The write interval of each organization. A frequent writer always reads from the primary. */
const writeEveryMs = [150, 400, 1000, 2500];
const readersEach = 2;
const readPauseMs = 25;
const patienceMs = 30_000;

type Read = { ms: number; status: number | string; isStale: boolean };

type Reading = { reads: Read[]; writes: number; failedWrites: number };

type Organization = { path: string; headers: Record<string, string>; written: number };

/**
 * Each organization counts up in the name of a survey, through any process. A read that shows less than an earlier
 * acknowledged write is stale.
 */
async function startReaders(db: Db, addresses: readonly string[]) {
  const agent = new Agent({ connections: 100, headersTimeout: patienceMs });
  const reading: Reading = { reads: [], writes: 0, failedWrites: 0 };
  const inFlight = new Set<Promise<void>>();
  let over = false;
  let turn = 0;

  async function ask({ path, headers }: Organization, body?: object) {
    turn += 1;
    return await request(`${addresses[turn % addresses.length]}${path}`, {
      headers,
      dispatcher: agent,
      method: body ? 'PATCH' : 'GET',
      ...(body && { body: JSON.stringify(body) }),
    }).then(
      async ({ statusCode, body: got }) => ({ status: statusCode, text: await got.text() }),
      (error: NodeJS.ErrnoException) => ({ status: error.code ?? error.message, text: '' }),
    );
  }

  async function write(organization: Organization, everyMs: number) {
    for (let count = 1; !over; count += 1) {
      const { status } = await ask(organization, { name: `count ${count}` });
      reading.writes += 1;
      if (status === 200) organization.written = count;
      else reading.failedWrites += 1;
      await sleep(everyMs);
    }
  }

  async function read(organization: Organization) {
    while (!over) {
      const one = readOnce(organization);
      inFlight.add(one);
      await one;
      inFlight.delete(one);
      await sleep(readPauseMs);
    }
  }

  async function readOnce(organization: Organization) {
    const [at, { written }] = [performance.now(), organization];
    const { status, text } = await ask(organization);
    const isStale = status === 200 && countIn(text) < written;
    reading.reads.push({ ms: performance.now() - at, status, isStale });
  }

  const organizations = await Promise.all(writeEveryMs.map(() => makeOne(db)));
  const callers = Promise.all(
    organizations.flatMap((organization, at) => [
      write(organization, writeEveryMs[at]!),
      ...Array.from({ length: readersEach }, () => read(organization)),
    ]),
  );
  callers.catch(() => {});
  return {
    reading,
    /** Waits for the reads that have begun. */
    async inFlight() {
      await Promise.all(inFlight);
    },
    async stop() {
      over = true;
      await callers;
      await agent.destroy();
    },
  };
}

async function makeOne(db: Db): Promise<Organization> {
  const { id, write } = await makeClient(db);
  const survey = await makeSurvey(db, id, { name: 'count 0' });
  const headers = { ...write, 'Content-Type': 'application/json' };
  return { path: `/api/v1/surveys/${survey}`, headers, written: 0 };
}

const countIn = (text: string) =>
  Number((JSON.parse(text) as { data: { name: string } }).data.name.split(' ')[1]);

type Standby = Awaited<ReturnType<typeof startWithStandby>>['standby'];

/** A primary and a streaming replica, whose log contains its statements. */
async function startWithStandby(ends: AsyncDisposableStack) {
  const { primary, addReplica, restart } = await startCluster({ after: (end) => ends.defer(end) });
  let server = await addReplica();
  const { url } = server;
  const ask = async (statement: string) => {
    const db = connect(url, { connections: 1 });
    const asked = () =>
      db.unsafe(statement).then(
        () => true,
        (error: { code?: string }) => {
          if (error.code !== conflictWithReplay) throw error;
          return false;
        },
      );
    await until('the replica does it', asked).finally(() => db.end({ timeout: 1 }));
  };
  await ask("alter system set log_line_prefix = '%a '");
  await ask("alter system set log_statement = 'all'");
  await ask('select pg_reload_conf()');
  const standby = {
    url,
    ask,
    /** Kills the postmaster first, so that it cannot stop its backends gracefully. */
    async kill() {
      signalAll(treeOf(postmasterOf(server.folder)!), 'SIGKILL');
      await server.kill();
    },
    async start() {
      server = await restart(server);
    },
    /** Number of API reads since its start, according to its log. */
    reads: () => server.log().match(readLine)?.length ?? 0,
  };
  return { url: primary.url, standby };
}

/** A replica that lags cancels queries that would delay its replay. */
const conflictWithReplay = '40001';

const readLine = /^askback reads LOG: {2}execute [^:]+:\s+select \(/gm;
