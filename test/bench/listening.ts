import type { Db } from '../../src/lib/db/db.ts';
import { one } from '../../src/lib/db/db.ts';
import { foldTallies } from '../../src/surveys/queries.ts';
import { signIn, slugOfOrganization } from '../support/make/session.ts';
import { benchDatabase } from './database.ts';
import { readExport } from './export-reader.ts';
import { applyLoad, get } from './load.ts';
import { number, type Section, table, verdict } from './report.ts';
import { dropIndexes, issueKeys, rareWord, type Size, seed } from './seed.ts';
import { startService } from './service.ts';

/** The first of two organizations has 55 % of all: a million answers. */
const size: Size = { organizations: 2, responses: 1_818_182, contacts: 200_000 };
const seconds = 3;
const warmUpSeconds = 1;
const fewestRows = 50_000;

type Place = { name: string; path: string; atMost: number; ofApp?: boolean };

/** What is asked for by a reader of answers, one request after the other: the server has nothing else to do. */
export async function listening(server: string): Promise<Section[]> {
  const database = await benchDatabase(server);
  try {
    console.error(`seeding ${number(size.responses)} answers...`);
    await seed(database.db, size);
    await addFacets(database.db);
    const clients = await issueKeys(database.db);
    const { orgId, key, surveyId } = clients.find(({ large }) => large)!;
    const { Cookie } = await signIn(database.db, { org: orgId, role: 'editor' });
    const slug = await slugOfOrganization(database.db, orgId);
    const tag = one(
      await database.db<{ id: string }[]>`select id from tags order by name limit 1`,
    ).id;
    const service = await startService(database.url);
    try {
      const rows: string[][] = [];
      for (const place of places({ slug, surveyId, tag })) {
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

function places({ slug, surveyId, tag }: { slug: string; surveyId: string; tag: string }): Place[] {
  const inbox = `/o/${slug}/responses`;
  const api = '/api/v1';
  const years = 'date_from=2024-01-01&date_to=2026-12-31';
  const screens = [
    ['responses', ''],
    ['responses of a survey', `?survey_id=${surveyId}`],
    ['responses of a category', '?category=detractor'],
    ['responses with a tag', `?tag=${tag}`],
    ['responses in a language', '?language=de'],
    ['responses with a comment', '?has_comment=true'],
    ['responses to follow up', '?state=open'],
    ['responses with a property', '?property.plan=pro'],
    ['responses, search for a rare word', `?search=${rareWord}`],
  ].map(([name, query]) => ({
    name: `screen: ${name}`,
    path: inbox + query,
    atMost: 50,
    ofApp: true,
  }));
  const home = `/o/${slug}`;
  const homes = [
    ...['7d', '30d', '90d', '365d'].map((period) => [`of ${period}`, `?period=${period}`]),
    ['of three years', '?date_from=2024-01-01&date_to=2026-12-30'],
    ['of a survey', `?survey_id=${surveyId}`],
    ['of a survey for a year', `?survey_id=${surveyId}&period=365d`],
  ].map(([name, query]) => ({
    name: `screen: Home ${name}`,
    path: home + query,
    atMost: 50,
    ofApp: true,
  }));
  const surveyPage = `${home}/surveys/${surveyId}`;
  const trends = ['UTC', 'America/Los_Angeles', 'Asia/Kolkata'].flatMap((zone) =>
    ['', `&survey_id=${surveyId}`, '&type=nps'].map((of) => ({
      name: `trend by day over three years${of ? `, ${of.slice(1).split('=')[0]}` : ''} (${zone})`,
      path: `${api}/nps/trend?${years}${of}&tz=${zone}`,
      atMost: 20,
    })),
  );
  return [
    ...homes,
    { name: 'screen: a survey', path: surveyPage, atMost: 50, ofApp: true },
    {
      name: 'screen: a survey for a year',
      path: `${surveyPage}?period=365d`,
      atMost: 50,
      ofApp: true,
    },
    ...trends,
    { name: 'nps by a property', path: `${api}/nps?property.country=DE`, atMost: 100 },
    { name: 'nps by a property of all', path: `${api}/nps?property.source=shop`, atMost: 100 },
    {
      name: 'trend by a property',
      path: `${api}/nps/trend?${years}&property.country=DE`,
      atMost: 100,
    },
    { name: 'responses by a property', path: `${api}/responses?property.country=DE`, atMost: 100 },
    {
      name: 'responses by a property of a quarter',
      path: `${api}/responses?property.plan=pro`,
      atMost: 100,
    },
    {
      name: 'responses by a property of all',
      path: `${api}/responses?property.source=shop`,
      atMost: 100,
    },
    {
      name: 'responses by a property of one',
      path: `${api}/responses?property.number=7`,
      atMost: 100,
    },
    ...screens,
    { name: 'screen: people', path: `/o/${slug}/people`, atMost: 50, ofApp: true },
    {
      name: 'screen: people, search',
      path: `/o/${slug}/people?search=moreau77`,
      atMost: 50,
      ofApp: true,
    },
  ];
}

/** Properties, languages, and a tag on every fiftieth answer; triggers rest, so the facets are counted out here. */
export async function addFacets(db: Db) {
  await db.begin(async (sql) => {
    await sql`set local session_replication_role = replica`;
    await sql`set local maintenance_work_mem = '512MB'`;
    await sql`set local work_mem = '256MB'`;
    const indexes = await dropIndexes(sql, ['contacts', 'responses', 'response_facets']);
    await sql`
      update contacts
      set properties = jsonb_build_object(
        'plan', (array['free', 'pro', 'team', 'enterprise'])[1 + abs(hashtext(token)) % 4],
        'country', (array['DE', 'FR', 'US', 'GB', 'NL', 'ES', 'IT', 'SE', 'PL', 'AT'])[1 + abs(hashtext(email)) % 10],
        'source', 'shop',
        'number', abs(hashtext(email || token)))`;
    await sql`
      update responses
      set language = (array['en', 'de', 'fr'])[1 + abs(hashtext(id::text)) % 3],
          properties = case when contact_id is null then '{"source": "shop"}'::jsonb end`;
    await sql`
      insert into response_tags (org_id, response_id, tag_id)
      select r.org_id, r.id, (select id from tags where org_id = r.org_id order by name limit 1)
      from responses r
      where hashtext(r.id::text) % 50 = 0`;
    await sql`
      insert into response_facets (org_id, facet, created_at, response_id, survey_id, category, score)
      select r.org_id, f, r.created_at, r.id, r.survey_id, r.category, r.score
      from responses r
      left join contacts c on c.id = r.contact_id
      cross join lateral (
        select property_facets(coalesce(c.properties, r.properties))
        union all
        select facet_of('tag', '', t.tag_id::text) from response_tags t
        where t.org_id = r.org_id and t.response_id = r.id
      ) facets (f)
      order by r.created_at`;
    for (const { indexdef } of indexes) await sql.unsafe(indexdef);
  });
  await foldTallies(db);
  await db`vacuum analyze`;
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
