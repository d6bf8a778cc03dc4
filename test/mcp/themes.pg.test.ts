import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shareFairly, ungroupedRequests } from '../../src/lib/db/fair-pool.ts';
import { parse } from '../../src/lib/validation/parse.ts';
import { listThemes, ThemesInput } from '../../src/mcp/tools.ts';
import { makeClient, makeOrganization, makeResponse, makeSurvey } from '../support/make/rows.ts';
import { bareApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();
const [ours, theirs] = [await makeOrganization(db), await makeOrganization(db)];

/** Each response has its own theme, named after its time. */
const times = [
  '2026-04-29T23:59:59Z',
  '2026-04-30T00:00:00Z',
  '2026-04-30T00:02:00Z',
  '2026-04-30T12:00:00Z',
  '2026-04-30T23:59:59Z',
  '2026-05-01T00:00:00Z',
];
for (const org_id of [ours, theirs]) {
  const survey_id = await makeSurvey(db, org_id);
  for (const created_at of times) {
    const response_id = await makeResponse(db, { org_id, survey_id }, { created_at });
    await db`
      insert into analyses ${db({ org_id, response_id, provider: 'test', themes: [created_at] })}`;
  }
}

// The response is in the last millisecond of its day.
await db`
  update responses set created_at = created_at + interval '999500 microseconds'
  where created_at = '2026-04-30T23:59:59Z'`;

/** The requested range, and the first and last time within it. */
const ranges: [from: string | undefined, to: string | undefined, counted: readonly string[]][] = [
  [undefined, undefined, times],
  ['2026-04-30', undefined, times.slice(1)],
  ['2026-04-30T00:02:00Z', undefined, times.slice(2)],
  [undefined, '2026-04-30', times.slice(0, 5)],
  [undefined, '2026-04-29', times.slice(0, 1)],
  [undefined, '2026-04-30T12:00:00Z', times.slice(0, 4)],
  ['2026-04-30', '2026-04-30', times.slice(1, 5)],
  ['2026-05-02', '2026-05-03', []],
];
for (const [date_from, date_to, counted] of ranges) {
  test(`themes from ${date_from ?? 'the start'} to ${date_to ?? 'now'} include whole UTC days`, async () => {
    const asked = parse(ThemesInput, { limit: 50, date_from, date_to });
    const data = await listThemes(db, ours, asked);
    assert.deepEqual(
      data.map(({ theme, mentions }) => [theme, mentions]),
      counted.map((time) => [time, 1]),
    );
  });
}

test('themes are sorted by mentions, then by name, up to the limit', async () => {
  const org_id = await makeOrganization(db);
  const survey_id = await makeSurvey(db, org_id);
  for (const themes of [['price', 'staff', 'tea'], ['staff', 'price'], ['staff'], ['air']]) {
    const response_id = await makeResponse(db, { org_id, survey_id });
    await db`insert into analyses ${db({ org_id, response_id, provider: 'test', themes })}`;
  }
  const named = async (limit: number) => {
    const data = await listThemes(db, org_id, { limit });
    return data.map(({ theme }) => theme);
  };
  assert.deepEqual(await named(3), ['staff', 'price', 'air']);
  assert.deepEqual(await named(50), ['staff', 'price', 'air', 'tea']);
});

test('themes can be limited to one survey', async () => {
  const org_id = await makeOrganization(db);
  const surveys: string[] = [];
  for (const theme of ['price', 'tea']) {
    const survey_id = await makeSurvey(db, org_id);
    const response_id = await makeResponse(db, { org_id, survey_id });
    await db`
      insert into analyses ${db({ org_id, response_id, provider: 'test', themes: [theme] })}`;
    surveys.push(survey_id);
  }
  const asked = { survey_id: surveys[1]!, limit: 9 };
  const data = await listThemes(db, org_id, asked);
  assert.deepEqual(
    data.map(({ theme }) => theme),
    ['tea'],
  );
});

test('list_themes counts as costly work of its organization', async () => {
  const { id, read } = await makeClient(db);
  const entered: string[] = [];
  const slots = (kind: string) => ({
    counts: () => ({ total: 1, held: 0, waiting: 0, groups: 0 }),
    async acquire(group: string) {
      entered.push(`${kind} of ${group}`);
      return () => {};
    },
  });
  const pool = shareFairly(db, { ...slots('connection'), costly: slots('costly work') });
  const params = { name: 'list_themes', arguments: {} };
  const answer = await bareApp(pool).request('/mcp', {
    method: 'POST',
    headers: { ...read, 'Content-Type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
  });
  assert.equal(answer.status, 200);
  const [keyCheck, ...rest] = entered;
  assert.equal(keyCheck, `connection of ${ungroupedRequests}`);
  assert.deepEqual(rest.slice(-2), [`costly work of ${id}`, `connection of ${id}`]);
  assert.ok(
    rest.every((each) => each.endsWith(id)),
    rest.join(', '),
  );
});
