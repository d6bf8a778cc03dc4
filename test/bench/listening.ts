import { one } from '../../src/lib/db/db.ts';
import { signIn, slugOfOrganization } from '../support/make/session.ts';
import { issueKeys } from './clients.ts';
import { benchDatabase } from './database.ts';
import { readExport } from './export-reader.ts';
import { addFacets, countDays, ownerAddress } from './listening-facets.ts';
import { places } from './listening-places.ts';
import { applyLoad, get } from './load.ts';
import { number, type Section, table, verdict } from './report.ts';
import { type Size, seed } from './seed.ts';
import { startService } from './service.ts';

/** The first of two organizations has a million answers. */
const size: Size = {
  organizations: 2,
  responses: 1_050_000,
  contacts: 115_000,
  largePart: 1_000_000 / 1_050_000,
};
/** Of the hundred requests that one second takes, p99 is the slowest. */
const seconds = 3;
const warmUpSeconds = 0.5;
const fewestRows = 50_000;

/** What is asked for by a reader of answers, one request after the other: the server has nothing else to do. */
export async function listening(server: string): Promise<Section[]> {
  const database = await benchDatabase(server);
  try {
    console.error(`seeding ${number(size.responses)} answers...`);
    await seed(database.db, size, addFacets);
    await countDays(database.db);
    const clients = await issueKeys(database.db);
    const { orgId, key, surveyId } = clients.find(({ large }) => large)!;
    const { Cookie } = await signIn(database.db, { org: orgId, role: 'editor' });
    const slug = await slugOfOrganization(database.db, orgId);
    const tag = one(
      await database.db<{ id: string }[]>`select id from tags order by name limit 1`,
    ).id;
    const responseId = one(
      await database.db<{ id: string }[]>`
        select id
        from responses
        where org_id = ${orgId} and held_reason is null
        order by created_at desc
        offset 300000 limit 1`,
    ).id;
    const service = await startService(database.url);
    try {
      const rows: string[][] = [];
      for (const place of places({
        slug,
        surveyId,
        responseId,
        tag,
        owner: ownerAddress,
      })) {
        const headers = place.ofApp ? { Cookie } : { 'X-API-Key': key };
        const load = { port: service.port, requests: [get(place.path, headers)], connections: 1 };
        await applyLoad({ ...load, seconds: warmUpSeconds });
        const { p50, p99, refused } = await applyLoad({ ...load, seconds });
        if (Object.keys(refused).length > 0)
          throw new Error(`${place.path}: ${JSON.stringify(refused)}`);
        console.error(`${place.name}: ${number(p50, 1)} ms`);
        const good = verdict(p99 <= place.atMost);
        rows.push([place.name, number(p50, 1), number(p99, 1), String(place.atMost), good]);
      }
      const files = await exportsOf(service, key);
      return [
        {
          title: 'Reading answers: 1,000,000 of one organization, one request at a time',
          lines: table(['GET', 'p50 ms', 'p99 ms', 'at most', ''], rows),
        },
        { title: 'Exports of 1,000,000 answers', lines: files },
      ];
    } finally {
      await service.stop();
    }
  } finally {
    await database.drop();
  }
}

type Served = Awaited<ReturnType<typeof startService>>;

async function exportsOf(service: Served, key: string): Promise<string[]> {
  const rows: string[][] = [];
  for (const format of ['csv', 'jsonl']) {
    const path = `/api/v1/responses/export?format=${format}`;
    const { lines, ms, grownBy } = await readExport(service, { path, key });
    const perSecond = (lines / ms) * 1000;
    console.error(`${format}: ${number(perSecond)} rows/s`);
    const good = verdict(perSecond >= fewestRows);
    rows.push([format, number(lines), number(perSecond), number(grownBy, 0), good]);
  }
  return table(
    ['format', 'rows', 'rows/s', 'memory grew by MB', `≥ ${number(fewestRows)}/s`],
    rows,
  );
}
