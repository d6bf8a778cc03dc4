import { Hono } from 'hono';
import { listen } from '../../src/lib/http/listen.ts';
import { DataTable } from '../../src/web/app/lists.tsx';
import { renderScreen } from '../../src/web/app/screen.tsx';
import { applyLoad, get, type Measured, post } from './load.ts';
import { number, type Section, table, verdict } from './report.ts';
import { connections, measureScreens, ofMany, ofOne, type ScreenCost } from './screens.ts';
import type { Service } from './service.ts';

const seconds = 3;
const warmUpSeconds = 2;
const wantedPerSecond = 1500;
const wantedShare = 0.4;
const signIns = 50;
const mostNpsMs = 100;

/** Measures screens of the app with a session, and how fifty concurrent sign-ins affect other requests. */
export async function app(server: string): Promise<Section[]> {
  const floor = await measureRendering();
  let nps: Measured | undefined;
  const costs = await measureScreens(server, async (service, readKey) => {
    nps = await measureSignIns(service, readKey);
  });
  return [screenSection(floor, costs), signInSection(nps!)];
}

/** Each sign-in has an unknown address, which costs as much as a wrong password. */
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

/** A page with a table of fifty rows, rendered by the same server without session and database. */
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

function screenSection(floor: Measured, costs: readonly ScreenCost[]): Section {
  const wanted = Math.min(wantedPerSecond, floor.perSecond * wantedShare);
  const rows = costs.map(({ screen, crowd, measured, us }) => [
    screen,
    crowd,
    number(measured.perSecond),
    number(wanted),
    verdict(measured.perSecond >= wanted),
    number(measured.p50, 1),
    number(measured.p99, 1),
    number(us.service),
    number(us.postgres),
  ]);
  return {
    title: `The app: ${connections} connections, each signed in`,
    lines: [
      ...table(
        [
          'screen',
          'members',
          'pages/s',
          'expected',
          '',
          'p50 ms',
          'p99 ms',
          'service µs',
          'Postgres µs',
        ],
        rows,
      ),
      '',
      `Each connection has a session and a member of its own. In the rows "${ofOne}" all ${connections} members open the same page of the`,
      `demo organization at the same time. In the rows "${ofMany}" each member belongs to an organization of its own with about`,
      '1,300 responses. The µs are CPU time per page, including the session check.',
      '',
      `A page with a table of 50 rows, rendered without session and database: ${number(floor.perSecond)}/s.`,
    ],
  };
}

const signInSection = (nps: Measured): Section => ({
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
});
