import { setTimeout as sleep } from 'node:timers/promises';
import { costOf } from './processor-time.ts';
import { median, number, table } from './report.ts';
import { withScene } from './scene.ts';

const starts = 5;
const quietAfterMs = 10_000;
const quietSeconds = 10;

/** How soon the service is ready, and what it and Postgres use while nothing happens. */
export async function atRest(server: string): Promise<string[]> {
  const ready: number[] = [];
  for (let start = 0; start < starts; start += 1) ready.push(await readyMs(server));
  const rest = await withScene(server, {}, async ({ service, parts }) => {
    await sleep(quietAfterMs);
    const { us } = await costOf({ units: quietSeconds, parts }, () => sleep(quietSeconds * 1000));
    return { us, privateMegabytes: service.privateMegabytes() ?? Number.NaN };
  });
  return table(
    ['', 'measured'],
    [
      [`ready, median of ${starts}`, `${number(median(ready))} ms`],
      ['private memory after 20 s', `${number(rest.privateMegabytes, 1)} MB`],
      ['processor time a second, service', `${number(rest.us.service / 1000, 1)} ms`],
      ['processor time a second, Postgres', `${number(rest.us.postgres / 1000, 1)} ms`],
    ],
  );
}

/** On a database whose schema is there already: making it is no part of a start. */
const readyMs = (server: string) => withScene(server, {}, ({ restart }) => restart());
