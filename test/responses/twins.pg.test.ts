import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { divideResponses, readRange } from '../../src/responses/export.ts';
import { allResponses, type ResponseFilter } from '../../src/responses/filter.queries.ts';
import { findNext } from '../../src/responses/queries.ts';
import { foldTallies } from '../../src/surveys/queries.ts';
import { makeTwins, type Twin, type TwinRow, twinSurveys } from '../support/make/twins.ts';
import { testApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';
import { idsByCursor, idsByPage, reader } from '../support/probe/read.ts';

/** What is read of one of two organizations whose responses have the same ids. */
const { db } = await testDatabase();
const app = testApp(db);
let twins: [Twin, Twin];

before(async () => {
  twins = await makeTwins(db);
  await foldTallies(db);
});

type Case = { query: string; filter: Partial<ResponseFilter>; has: (row: TwinRow) => boolean };

const property = (value: string) => ({ kind: 'property', name: 'plan', value }) as const;
const until = (day: string) => new Date(`${day}T00:00:00Z`);
/** Midnight of a kept day, so that the range has whole days and no edges. */
const [first, end] = ['2024-03-06', '2024-03-08'];

const casesOf = ({ surveys, tag, email }: Twin): Case[] => [
  {
    query: 'property.plan=eight',
    filter: { facets: [property('eight')] },
    has: (row) => row.plan === 'eight',
  },
  {
    query: 'property.plan=seven&language=de',
    filter: { facets: [property('seven')], language: 'de' },
    has: (row) => row.plan === 'seven' && row.language === 'de',
  },
  {
    query: `tag=${tag}&sentiment=negative&has_comment=false`,
    filter: {
      facets: [
        { kind: 'tag', name: '', value: tag },
        { kind: 'sentiment', name: '', value: 'negative' },
      ],
      hasComment: false,
    },
    has: (row) => row.tagged && row.sentiment === 'negative' && row.comment === null,
  },
  {
    query: 'category=passive',
    filter: { category: 'passive' },
    has: (row) => row.category === 'passive',
  },
  { query: 'type=nps', filter: { type: 'nps' }, has: (row) => row.survey < 2 },
  {
    query: `survey_id=${surveys[0]}&date_from=${first}&date_to=2024-03-07`,
    filter: { survey_id: surveys[0]!, range: { from: until(first), to: until(end) } },
    has: (row) => row.survey === 0 && row.at >= first && row.at < end,
  },
  { query: 'search=comment', filter: { pattern: '%comment%' }, has: (row) => row.comment !== null },
  {
    query: 'has_comment=true',
    filter: { hasComment: true },
    has: (row) => row.comment !== null,
  },
  { query: 'language=en', filter: { language: 'en' }, has: (row) => row.language === 'en' },
  { query: 'owner=none', filter: { owner: 'none' }, has: (row) => !row.owned },
  {
    query: `owner=${encodeURIComponent(email)}&state=open&type=nps`,
    filter: { owner: email, state: 'open', type: 'nps' },
    has: (row) => row.owned && row.state === 'open' && row.survey < 2,
  },
  {
    query: `survey_id=${surveys[0]!.toUpperCase()}&property.plan=nine&category=promoter`,
    filter: { survey_id: surveys[0]!, facets: [property('nine')], category: 'promoter' },
    has: (row) => row.survey === 0 && row.plan === 'nine' && row.category === 'promoter',
  },
  {
    query: `audience=employee&state=done&date_from=${first}&date_to=${end}`,
    filter: {
      audience: 'employee',
      state: 'done',
      range: { from: until(first), to: until('2024-03-09') },
    },
    has: (row) =>
      row.survey === 1 && row.state === 'done' && row.at >= first && row.at < '2024-03-09',
  },
  {
    query: `property.plan=eight&date_from=${first}T00:00:00Z&date_to=${end}T00:00:00.000Z`,
    filter: {
      facets: [property('eight')],
      range: { from: until(first), to: new Date(`${end}T00:00:00.001Z`) },
    },
    has: (row) => row.plan === 'eight' && row.at >= first && row.at < `${end}T00:00:00.001`,
  },
];

/** Newest first, as they are listed. */
const expected = ({ rows }: Twin, has: (row: TwinRow) => boolean) =>
  rows
    .filter((row) => !row.held && has(row))
    .toSorted((a, b) => (a.at === b.at ? (a.id < b.id ? 1 : -1) : a.at < b.at ? 1 : -1));

const idsOf = (rows: readonly { id: string }[]) => rows.map(({ id }) => id);

/** Every twin with every case: what is said of it in a failure, and the rows that it has. */
function* eachCase(chosen = twins as readonly Twin[]) {
  for (const [n, twin] of chosen.entries()) {
    for (const each of casesOf(twin)) {
      const filter: ResponseFilter = { ...allResponses, ...each.filter };
      yield {
        twin,
        ...each,
        filter,
        rows: expected(twin, each.has),
        said: `twin ${n}: ${each.query}`,
      };
    }
  }
}

const cursorOf = ({ at, id }: TwinRow) => Buffer.from(`${micro(at)} ${id}`).toString('base64url');
const micro = (at: string) =>
  at.replace(/(\.\d+)?Z$/, (_, part = '.') => `${part.padEnd(7, '0')}Z`);

/** Where days meet, and some of those that came at one instant. */
const isAtEdge = ({ at }: TwinRow, place: number) =>
  /T(00:00:00|23:59:59)/.test(at) && (!/^2024-03-(07|10)/.test(at) || place % 4 === 0);

test('pages and cursors have the responses of one organization, each of them once and in order', async () => {
  for (const { twin, query, rows, said } of eachCase()) {
    assert.ok(rows.length > 0, said);
    const { list } = reader(app, twin.read);
    const path = `/api/v1/responses?limit=24&${query}`;
    const { meta } = await list(path);
    assert.equal(meta.total, rows.length, said);
    assert.deepEqual(await idsByPage(list, path), idsOf(rows), said);
    assert.deepEqual(await idsByCursor(list, `${path}&limit=24`), idsOf(rows), said);
  }
});

/** How many rows of a list are of a day or newer, of each day. */
const endsOfDays = (rows: readonly TwinRow[]) =>
  rows.flatMap(({ at }, n) => (rows[n + 1]?.at.startsWith(at.slice(0, 10)) ? [] : [n + 1]));

test('a page that ends with a day is followed by the next, if there is one', async () => {
  for (const { twin, query, rows, said } of eachCase([twins[0]])) {
    const { list } = reader(app, twin.read);
    for (const limit of endsOfDays(rows)) {
      const path = `/api/v1/responses?limit=${limit}&${query}`;
      const [{ data, meta }, second] = [await list(path), await list(`${path}&page=2`)];
      assert.deepEqual(idsOf(data), idsOf(rows.slice(0, limit)), `${limit} of ${said}`);
      assert.equal(meta.next_cursor !== null, rows.length > limit, `${limit} of ${said}`);
      assert.deepEqual(
        idsOf(second.data),
        idsOf(rows.slice(limit, 2 * limit)),
        `${limit} of ${said}`,
      );
    }
  }
});

test('a cursor goes on after its row, wherever that lies in its day, and counts instead of a page', async () => {
  for (const { twin, query, rows, said } of eachCase()) {
    const { list } = reader(app, twin.read);
    for (const row of twin.rows.filter(isAtEdge)) {
      const later = rows.filter(({ at, id }) => at < row.at || (at === row.at && id < row.id));
      const { data } = await list(
        `/api/v1/responses?limit=2&page=3&cursor=${cursorOf(row)}&${query}`,
      );
      assert.deepEqual(idsOf(data), idsOf(later.slice(0, 2)), `${said}, after ${row.at}`);
    }
  }
});

test('a file has the responses of one organization with their surveys and tags', async () => {
  for (const { twin, filter, rows, said } of eachCase()) {
    const found: { id: string; survey_type: string; tags: { id: string }[] }[] = [];
    const ends = await divideResponses(db, twin.org, { filter, after: null, many: 99, rows: 12 });
    assert.equal(ends.length, Math.floor(rows.length / 12), said);
    for (const [at, until] of [...ends, null].entries()) {
      const range = { after: ends[at - 1] ?? null, until };
      const { text } = await readRange(db, twin.org, { filter, format: 'jsonl', ...range });
      const items = text.toString().split('\n').slice(0, -1);
      assert.equal(items.length, until ? 12 : rows.length % 12, said);
      found.push(...items.map((line) => JSON.parse(line)));
    }
    const shown = found.map(({ id, survey_type, tags }) => [
      id,
      survey_type,
      tags.map((tag) => tag.id),
    ]);
    const wanted = rows.map(({ id, survey, tagged }) => [
      id,
      twinSurveys[survey]!.type,
      tagged ? [twin.tag] : [],
    ]);
    assert.deepEqual(shown, wanted, said);
  }
});

test('the neighbours of a response are the nearest of its own organization', async () => {
  for (const { twin, filter, rows, said } of eachCase()) {
    for (const { at, id } of twin.rows.filter(isAtEdge)) {
      const isNewer = (row: TwinRow) => row.at > at || (row.at === at && row.id > id);
      const position = { at: micro(at), id };
      const newer = await findNext(db, twin.org, { filter, position, way: 'newer' });
      const older = await findNext(db, twin.org, { filter, position, way: 'older' });
      const others = rows.filter((row) => row.id !== id);
      assert.equal(newer, others.findLast(isNewer)?.id, `newer than ${at} ${said}`);
      assert.equal(older, others.find((row) => !isNewer(row))?.id, `older than ${at} ${said}`);
    }
  }
});

type Tally = { start: string; promoters: number; passives: number; detractors: number };

test('scores of several properties and tags are those of one organization, in all, by range and by day', async () => {
  for (const twin of twins) {
    const { json } = reader(app, twin.read);
    const query = `property.plan=eight&tag=${twin.tag}`;
    const of = expected(twin, (row) => row.plan === 'eight' && row.tagged);
    const count = (rows: readonly TwinRow[]) =>
      (['promoter', 'passive', 'detractor'] as const).map(
        (category) => rows.filter((row) => row.category === category).length,
      );
    for (const [from, to] of [
      ['2024-03-01', '2024-03-11'],
      [first, end],
      ['2024-03-04', '2024-03-04'],
      ['2024-03-07', '2024-03-08'],
    ]) {
      const within = of.filter(({ at }) => at >= from! && at.slice(0, 10) <= to!);
      const range = `&date_from=${from}&date_to=${to}`;
      const { data } = await json<{ data: Tally }>(`/api/v1/nps?${query}${range}`);
      assert.deepEqual([data.promoters, data.passives, data.detractors], count(within), range);
      const trend = await json<{ data: Tally[] }>(`/api/v1/nps/trend?${query}${range}`);
      for (const { start, promoters, passives, detractors } of trend.data) {
        const ofDay = within.filter(({ at }) => at.startsWith(start));
        assert.deepEqual([promoters, passives, detractors], count(ofDay), `${start} of ${range}`);
      }
    }
  }
});

test('days of another time zone begin and end where they do there', async () => {
  const [twin] = twins;
  const { json } = reader(app, twin.read);
  for (const [zone, hours] of [
    ['Asia/Kolkata', 5.5],
    ['America/Phoenix', -7],
  ] as const) {
    const dayOf = ({ at }: TwinRow) =>
      new Date(Date.parse(at) + hours * 3_600_000).toISOString().slice(0, 10);
    for (const day of ['2024-03-05', '2024-03-06', '2024-03-07']) {
      const range = `tz=${zone}&date_from=${day}&date_to=${day}`;
      const { data } = await json<{ data: Tally[] }>(
        `/api/v1/nps/trend?property.plan=eight&${range}`,
      );
      const rows = expected(twin, (row) => row.plan === 'eight' && dayOf(row) === day);
      const sum = ({ promoters, passives, detractors }: Tally) => promoters + passives + detractors;
      assert.deepEqual(data.map(sum), [rows.length], range);
    }
  }
});
