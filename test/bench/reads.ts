import { Hono } from 'hono';
import { listen } from '../../src/lib/http/listen.ts';
import { type Client, issueKeys } from './clients.ts';
import { type BenchDatabase, benchDatabase, serviceConnections } from './database.ts';
import { type Endpoint, endpoints } from './endpoints.ts';
import { applyLoad, get, type Measured } from './load.ts';
import { costOf, processorTimeOf, processorTimeOfPostgres } from './processor-time.ts';
import { number, type Section, table, verdict } from './report.ts';
import { type Size, seed } from './seed.ts';
import { type Service, startService } from './service.ts';
import { recordStatements, replay } from './statements.ts';

const large: Size = { organizations: 200, responses: 1_000_000, contacts: 200_000 };
const small: Size = { organizations: 200, responses: 10_000, contacts: 2000 };
const connections = 32;
const seconds = 2.5;
/** The machine code of a route is good after thousands of requests: until then one takes up to twice the time. */
const warmUpSeconds = 3;
const floorSeconds = 1.2;
const samples = 200;
const idleMs = 3000;

type Cost = {
  name: string;
  service: Measured;
  us: { service: number; postgres: number };
  floor: Awaited<ReturnType<typeof replay>>;
};

/** Every GET of the API over a million answers, compared with what Hono and Postgres cost without us. */
export async function reads(server: string): Promise<Section[]> {
  const constant = await measureConstant();
  const ofLarge = await measureAll(server, large);
  const ofSmall = await measureAll(server, small, compared);
  return [
    {
      title: `Reads: ${connections} connections, 1,000,000 answers of 200 organizations (55 % of one)`,
      lines: [
        ...endpointTable(ofLarge.costs),
        '',
        `Hono answering a constant through the same server: ${number(constant.perSecond)}/s, p50 ${number(constant.p50, 2)} ms, p99 ${number(constant.p99, 2)} ms. ` +
          `The floor is the statements of the same requests, the key and its count included, bare through the driver on ${serviceConnections} connections.`,
      ],
    },
    { title: 'Reads: what size and depth cost', lines: growthTable(ofLarge.costs, ofSmall.costs) },
    { title: 'The process', lines: processTable(ofSmall) },
  ];
}

/** The places whose cost must not grow with what is stored, by name. */
const compared = ['responses of the large organization', 'nps of the large organization'];

/** The second service starts from compiled code, as the executable does: its figures are kept. */
async function measureAll(server: string, size: Size, only?: readonly string[]) {
  const database = await benchDatabase(server);
  try {
    console.error(`seeding ${number(size.responses)} answers...`);
    await seed(database.db, size);
    const clients = await issueKeys(database.db);
    const service = await startService(database.url);
    try {
      await new Promise((idle) => setTimeout(idle, idleMs));
      const process = { readyMs: service.readyMs, idle: service.privateMegabytes() };
      const costs: Cost[] = [];
      const chosen = endpoints.filter(({ name }) => !only || only.includes(name));
      console.error('warming up...');
      await measureEndpoint({ database, service, clients }, chosen[0]!);
      for (const endpoint of chosen) {
        costs.push(await measureEndpoint({ database, service, clients }, endpoint));
      }
      return { ...process, costs };
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

function processTable({ readyMs, idle }: { readyMs: number; idle: number | null }): string[] {
  return table(
    ['', 'measured', 'expected', ''],
    [
      [
        'ready on a migrated database',
        `${number(readyMs)} ms`,
        'under 500 ms',
        verdict(readyMs < 500),
      ],
      idle === null
        ? ['idle private memory', 'unknown here', 'under 60 MB', '']
        : ['idle private memory', `${number(idle, 1)} MB`, 'under 60 MB', verdict(idle < 60)],
    ],
  );
}
