import { Hono } from 'hono';
import { listen } from '../../src/lib/http/listen.ts';
import { DataTable } from '../../src/web/app/lists.tsx';
import { renderScreen } from '../../src/web/app/screen.tsx';
import { applyLoad, get, type Measured } from './load.ts';
import { number, type Section, table, verdict } from './report.ts';
import { connections, measureScreens, ofMany, ofOne, type ScreenCost } from './screens.ts';

const seconds = 3;
const warmUpSeconds = 2;
const wantedPerSecond = 1500;
const wantedShare = 0.4;

/** Measures screens of the app with a session. */
export async function app(server: string): Promise<Section[]> {
  const floor = await measureRendering();
  return [screenSection(floor, await measureScreens(server))];
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
