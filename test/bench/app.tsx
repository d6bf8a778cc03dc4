import { Hono } from 'hono';
import { demoOrganization, fillDemo } from '../../src/demo/fill.ts';
import { createSecrets } from '../../src/lib/crypto/secrets.ts';
import type { Db } from '../../src/lib/db/db.ts';
import { listen } from '../../src/lib/http/listen.ts';
import { DataTable } from '../../src/web/app/lists.tsx';
import { renderScreen } from '../../src/web/app/screen.tsx';
import { signIn, slugOfOrganization } from '../support/make/session.ts';
import { benchDatabase } from './database.ts';
import { applyLoad, get, type Measured, post } from './load.ts';
import { number, type Section, table, verdict } from './report.ts';
import { type Service, startService } from './service.ts';
import { secretKey } from './surveys.ts';

const connections = 64;
const seconds = 3;
const warmUpSeconds = 2;
const wantedPerSecond = 1500;
const wantedShare = 0.4;
const signIns = 50;
const mostNpsMs = 100;

/** The screens that members open most, below their organization. */
const screens = [
  ['Home', ''],
  ['a list of 50', '/responses'],
  ['Settings', '/settings/general'],
] as const;

/** Screens of the app with a session, and what fifty sign-ins at once cost everybody else. */
export async function app(server: string): Promise<Section[]> {
  const floor = await measureRendering();
  const database = await benchDatabase(server);
  try {
    const demo = await fillDemo(
      { db: database.db, secrets: createSecrets([secretKey]) },
      new Date(),
    );
    const service = await startService(database.url);
    try {
      const rows = await measureScreens(service, database.db, floor);
      const nps = await measureSignIns(service, demo?.readKey ?? '');
      return sections({ floor, rows, nps });
    } finally {
      await service.stop();
    }
  } finally {
    await database.drop();
  }
}

async function measureScreens({ port }: Service, db: Db, floor: Measured): Promise<string[][]> {
  const home = `/o/${await slugOfOrganization(db, demoOrganization)}`;
  const cookies = await Promise.all(
    Array.from({ length: connections }, () => signIn(db, { org: demoOrganization })),
  );
  const rows: string[][] = [];
  for (const [name, path] of screens) {
    const requests = cookies.map((cookie) => get(`${home}${path}`, cookie));
    const load = { port, requests, connections };
    await applyLoad({ ...load, seconds: warmUpSeconds });
    const measured = await applyLoad({ ...load, seconds });
    const refused = Object.keys(measured.refused);
    if (refused.length > 0) throw new Error(`${name}: some were answered ${refused.join(', ')}`);
    const wanted = Math.min(wantedPerSecond, floor.perSecond * wantedShare);
    rows.push([
      ...[name, number(measured.perSecond), number(measured.p50, 1), number(measured.p99, 1)],
      ...[number(wanted), verdict(measured.perSecond >= wanted)],
    ]);
  }
  return rows;
}

/** Each for an address of its own: none has an account, which costs what a wrong password costs. */
async function measureSignIns({ port }: Service, key: string): Promise<Measured> {
  const form = { 'Content-Type': 'application/x-www-form-urlencoded' };
  const posts = Array.from({ length: signIns }, (_, n) =>
    post('/sign-in', `email=visitor-${n}%40example.com&password=glass+heron+tuesday`, form),
  );
  const asks = [get('/api/v1/nps', { 'X-API-Key': key })];
  const [nps] = await Promise.all([
    applyLoad({ port, requests: asks, connections: 4, seconds: 4, rate: 100 }),
    applyLoad({ port, requests: posts, connections: signIns, seconds: 30, once: true }),
  ]);
  return nps;
}

/** A page with a table of fifty rows, drawn by the same server without session and database. */
async function measureRendering(): Promise<Measured> {
  const columns = ['Score', 'Comment', 'Name', 'Survey', 'Tags', 'Time'].map((head) => ({ head }));
  const cells = ['9', 'Quick and friendly, as always.', 'Ann', 'Onboarding', 'vip', 'yesterday'];
  const listener = await listen({ host: '127.0.0.1', port: 0 });
  const page = new Hono().get('/', (c) => {
    const rows = Array.from({ length: 50 }, () => ({ cells }));
    const body = <DataTable caption="Responses" columns={columns} rows={rows} />;
    return renderScreen(c, { title: 'Responses', section: 'responses', body });
  });
  listener.open(page.fetch);
  const load = { port: listener.port, requests: [get('/')], connections };
  await applyLoad({ ...load, seconds: warmUpSeconds });
  const measured = await applyLoad({ ...load, seconds });
  listener.close();
  return measured;
}

type AppFigures = { floor: Measured; rows: string[][]; nps: Measured };

const sections = ({ floor, rows, nps }: AppFigures): Section[] => [
  {
    title: `The app: ${connections} connections, each signed in`,
    lines: [
      ...table(['screen', 'pages/s', 'p50 ms', 'p99 ms', 'expected', ''], rows),
      '',
      `A page with a table of 50 rows, drawn without session and database: ${number(floor.perSecond)}/s.`,
    ],
  },
  {
    title: `The app: ${signIns} sign-ins by password at once`,
    lines: table(
      ['', 'measured', 'expected', ''],
      [
        [
          'GET /api/v1/nps meanwhile, p99',
          `${number(nps.p99, 1)} ms`,
          `under ${mostNpsMs} ms`,
          verdict(nps.p99 < mostNpsMs),
        ],
      ],
    ),
  },
];
