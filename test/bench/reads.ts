import { Hono } from 'hono';
import { connect, type Db, type Sql } from '../../src/lib/db/db.ts';
import { listen } from '../../src/lib/http/listen.ts';
import { testSettings } from '../support/make/settings.ts';
import { bareApp } from '../support/probe/app.ts';
import { type Client, issueKeys } from './clients.ts';
import { type BenchDatabase, benchDatabase, serviceConnections } from './database.ts';
import { applyLoad, get, type Measured, percentiles } from './load.ts';
import { costOf, processorTimeOf, processorTimeOfPostgres } from './processor-time.ts';
import { number, type Section, table, verdict } from './report.ts';
import { rareWord, type Size, seed } from './seed.ts';
import { type Service, startService } from './service.ts';

const large: Size = { organizations: 200, responses: 1_000_000, contacts: 200_000 };
const small: Size = { organizations: 200, responses: 10_000, contacts: 2000 };
const connections = 32;
const seconds = 2.5;
/** V8 needs thousands of requests to optimize a route. Until then, requests take up to twice the time. */
const warmUpSeconds = 3;
const floorSeconds = 1.2;
const samples = 200;

type Cost = {
  name: string;
  service: Measured;
  us: { service: number; postgres: number };
  floor: Awaited<ReturnType<typeof replay>>;
};

/** Measures every GET of the API with a million answers, compared with Hono and Postgres alone. */
export async function reads(server: string): Promise<Section[]> {
  const constant = await measureConstant();
  const ofLarge = await measureAll(server, large);
  const ofSmall = await measureAll(server, small, compared);
  return [
    {
      title: `Reads: ${connections} connections, 1,000,000 responses of 200 organizations (55 % of them of one)`,
      lines: [
        ...endpointTable(ofLarge),
        '',
        `Hono returning a constant through the same server: ${number(constant.perSecond)}/s, p50 ${number(constant.p50, 2)} ms, p99 ${number(constant.p99, 2)} ms. ` +
          `The floor runs the same SQL statements, including those for the key, directly through the driver on ${serviceConnections} connections.`,
      ],
    },
    { title: 'Reads: cost of size and depth', lines: growthTable(ofLarge, ofSmall) },
  ];
}

/** Endpoints whose cost must not grow with the amount of data, by name. */
const compared = ['responses of the large organization', 'nps of the large organization'];

/** The second service starts from compiled code, as the executable does. Its figures count. */
async function measureAll(server: string, size: Size, only?: readonly string[]) {
  const database = await benchDatabase(server);
  try {
    console.error(`seeding ${number(size.responses)} answers...`);
    await seed(database.db, size);
    const clients = await issueKeys(database.db);
    const service = await startService(database.url);
    try {
      const costs: Cost[] = [];
      const chosen = endpoints.filter(({ name }) => !only || only.includes(name));
      console.error('warming up...');
      await measureEndpoint({ database, service, clients }, chosen[0]!);
      for (const endpoint of chosen) {
        costs.push(await measureEndpoint({ database, service, clients }, endpoint));
      }
      return costs;
    } finally {
      await service.stop();
    }
  } finally {
    await database.drop();
  }
}

type Stage = { database: BenchDatabase; service: Service; clients: readonly Client[] };

async function measureEndpoint(stage: Stage, { name, of, path }: Endpoint): Promise<Cost> {
  const { database, service, clients } = stage;
  const asking = clients.filter((client) => of === 'any' || client.large);
  const asks = Array.from({ length: samples }, (_, n) => {
    const client = asking[(n * 7919) % asking.length]!;
    return { path: path(client), headers: { 'X-API-Key': client.key } };
  });
  const statements = await recordStatements(database.url, asks);
  const requests = asks.map((ask) => get(ask.path, ask.headers));
  const load = { port: service.port, requests, connections };

  await applyLoad({ ...load, seconds: warmUpSeconds });
  const parts = {
    service: processorTimeOf(service.pid),
    postgres: await processorTimeOfPostgres(database.db),
  };
  const { result: measured, us } = await costOf({ units: 1, parts }, () =>
    applyLoad({ ...load, seconds }),
  );
  const replayed = { concurrency: connections, seconds: floorSeconds };
  await replay(database.db, statements, replayed);
  const floor = await replay(database.db, statements, replayed);
  const refused = Object.keys(measured.refused);
  if (refused.length > 0) throw new Error(`${name}: some were answered ${refused.join(', ')}`);
  console.error(
    `${name}: ${number(measured.perSecond)}/s of ${number(floor.perSecond)}/s (${number(measured.perSecond / floor.perSecond, 2)})`,
  );
  const { count } = measured;
  return {
    name,
    service: measured,
    floor,
    us: { service: us.service / count, postgres: us.postgres / count },
  };
}

async function measureConstant(): Promise<Measured> {
  const listener = await listen({ host: '127.0.0.1', port: 0 });
  listener.open(new Hono().get('/', (c) => c.json({ data: [] })).fetch);
  const load = { port: listener.port, requests: [get('/')], connections };
  await applyLoad({ ...load, seconds: warmUpSeconds });
  const measured = await applyLoad({ ...load, seconds });
  listener.close();
  return measured;
}

const wanted = 0.6;

function endpointTable(costs: readonly Cost[]): string[] {
  const rows = costs.map(({ name, service, us, floor }) => [
    name,
    number(service.perSecond),
    number(service.p50, 1),
    number(service.p99, 1),
    number(us.service),
    number(us.postgres),
    number(floor.perSecond),
    number(service.perSecond / floor.perSecond, 2),
    verdict(service.perSecond / floor.perSecond >= wanted),
  ]);
  return table(
    [
      'GET',
      'req/s',
      'p50 ms',
      'p99 ms',
      'service µs',
      'Postgres µs',
      'bare SQL/s',
      'of bare SQL',
      `≥ ${wanted}`,
    ],
    rows,
  );
}

function growthTable(ofLarge: readonly Cost[], ofSmall: readonly Cost[]): string[] {
  const find = (costs: readonly Cost[], name: string) => costs.find((each) => each.name === name)!;
  const [page, nps] = compared.map((name) => find(ofLarge, name));
  const [smallPage, smallNps] = compared.map((name) => find(ofSmall, name));
  const rows = [
    growth('page 1 at 1,000,000 against 10,000', page!, smallPage!, 1.5),
    growth('nps at 1,000,000 against 10,000', nps!, smallNps!, 1.5),
    growth('page 10,000 against page 1', find(ofLarge, 'responses, page 10,000'), page!, 3),
    growth(
      'a rare word against page 1',
      find(ofLarge, 'responses, search for a rare word'),
      page!,
      20,
    ),
  ];
  return table(['', 'through the service', 'bare SQL', 'at most', ''], rows);
}

function growth(what: string, costly: Cost, cheap: Cost, most: number): string[] {
  const served = cheap.service.perSecond / costly.service.perSecond;
  const bare = cheap.floor.perSecond / costly.floor.perSecond;
  const good = verdict(served <= most && bare <= most);
  return [what, `${number(served, 2)} times`, `${number(bare, 2)} times`, String(most), good];
}

type Endpoint = {
  name: string;
  /** The keys of the requests: all in turn, or only those of the large organization. */
  of: 'any' | 'large';
  path: (client: Client) => string;
};

const recent = new Date(Date.now() - 45 * 24 * 3600 * 1000).toISOString();
const responses = '/api/v1/responses';

/** Every GET of v1 with its filters and worst cases. */
const endpoints: readonly Endpoint[] = [
  { name: 'surveys', of: 'any', path: () => '/api/v1/surveys' },
  { name: 'surveys/:id', of: 'any', path: ({ surveyId }) => `/api/v1/surveys/${surveyId}` },
  { name: 'responses', of: 'any', path: () => responses },
  { name: 'responses of the large organization', of: 'large', path: () => responses },
  { name: 'responses, page 10,000', of: 'large', path: () => `${responses}?page=10000` },
  {
    name: 'responses of one survey',
    of: 'any',
    path: ({ surveyId }) => `${responses}?survey_id=${surveyId}`,
  },
  { name: 'responses of a category', of: 'any', path: () => `${responses}?category=detractor` },
  { name: 'responses since a time', of: 'any', path: () => `${responses}?date_from=${recent}` },
  {
    name: 'responses, search for a rare word',
    of: 'large',
    path: () => `${responses}?search=${rareWord}`,
  },
  { name: 'responses/:id', of: 'any', path: ({ responseId }) => `${responses}/${responseId}` },
  { name: 'nps', of: 'any', path: () => '/api/v1/nps' },
  { name: 'nps of the large organization', of: 'large', path: () => '/api/v1/nps' },
  { name: 'nps since a time', of: 'any', path: () => `/api/v1/nps?date_from=${recent}` },
  { name: 'contacts', of: 'any', path: () => '/api/v1/contacts' },
  { name: 'contacts, page 1,000', of: 'large', path: () => '/api/v1/contacts?page=1000' },
  { name: 'tags', of: 'any', path: () => '/api/v1/tags' },
];

/** SQL statements of a request in order, with their parameters. */
type Statements = readonly { text: string; parameters: unknown[] }[];

type Ask = { path: string; headers: Record<string, string> };

/** Runs requests once and records every statement. */
async function recordStatements(url: string, asks: readonly Ask[]): Promise<Statements[]> {
  const db = connect(url, { connections: 1 });
  const app = bareApp(db, { settings: { ...testSettings, rateLimit: 1_000_000 } });
  let received: { text: string; parameters: unknown[] }[] = [];
  // Copies the parameters, because the driver replaces them with its encoded values.
  const receive = (_connection: number, text: string, parameters: unknown[]) => {
    received.push({ text, parameters: [...parameters] });
  };
  // postgres.js reads this option for every statement, although its type only allows it at the start.
  Object.assign(db.options, { debug: receive });
  const recorded: Statements[] = [];
  for (const { path, headers } of asks) {
    received = [];
    const { status } = await app.request(path, { headers });
    if (status !== 200) throw new Error(`${path} answered ${status}`);
    recorded.push(received.filter(({ text }) => !text.includes('pg_catalog')));
  }
  await db.end();
  return recorded;
}

/** Sends the statements of a request, in a transaction if the request used one. */
async function send(db: Db, statements: Statements) {
  const begun = statements.findIndex(({ text }) => text.startsWith('begin '));
  if (begun < 0) return await sendEach(db, statements);
  await sendEach(db, statements.slice(0, begun));
  const inside = statements.slice(begun + 1).filter(({ text }) => text !== 'commit');
  await db.begin(statements[begun]!.text.slice('begin '.length), (tx) => sendEach(tx, inside));
}

async function sendEach(sql: Sql, statements: Statements) {
  for (const { text, parameters } of statements) {
    const [row] = await sql.unsafe(text, parameters as never[], { prepare: true });
    if (row && 'json' in row && row['json'] === null) throw new Error(`finds nothing: ${text}`);
  }
}

type Replay = { concurrency: number; seconds: number };

/**
 * The floor: sends the same statements directly through the driver, with as many connections as the service has. A
 * request that succeeds through the service must also return data here.
 */
async function replay(db: Db, statements: readonly Statements[], { concurrency, seconds }: Replay) {
  const latencies: number[] = [];
  const begun = performance.now();
  const end = begun + seconds * 1000;
  let next = 0;
  const worker = async () => {
    for (let at = performance.now(); at < end; at = performance.now()) {
      await send(db, statements[next++ % statements.length]!);
      latencies.push(performance.now() - at);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  const elapsed = (performance.now() - begun) / 1000;
  return { perSecond: latencies.length / elapsed, ...percentiles(latencies) };
}
