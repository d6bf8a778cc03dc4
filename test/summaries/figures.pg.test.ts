import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countThemes, listQuotes } from '../../src/summaries/queries.ts';
import { makeContact, makeOrganization, makeResponse, makeSurvey } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();
const at = (time: string) => new Date(time);
const march = { start: at('2026-03-01T00:00:00Z'), end: at('2026-04-01T00:00:00Z') };
const february = { start: at('2026-02-01T00:00:00Z'), end: march.start };
const lastOf = ({ end }: { end: Date }) => new Date(end.getTime() - 1);

async function scene() {
  const org_id = await makeOrganization(db, { people: ['Boss'] });
  const of = { org_id, survey_id: await makeSurvey(db, org_id) };
  const answer = (created_at: Date, category: string, over: Record<string, unknown> = {}) =>
    makeResponse(db, of, { created_at, category, ...over });
  const analyzed = async (created_at: Date, themes: string[], category = 'promoter', over = {}) => {
    const response_id = await answer(created_at, category, over);
    await db`insert into analyses ${db({ org_id, response_id, themes, provider: 'builtin' })}`;
  };
  return { of, org_id, answer, analyzed };
}

test('the top five themes come with counts of the previous period', async () => {
  const { org_id, analyzed } = await scene();
  await analyzed(march.start, ['price', 'speed', 'gone'], 'detractor');
  await analyzed(lastOf(march), ['price', 'speed', 'app', 'care', 'zeal']);
  await analyzed(lastOf(march), ['price'], 'passive');
  await analyzed(lastOf(march), ['price'], 'detractor', { held_reason: 'scanner' });
  await analyzed(march.end, ['price', 'after'], 'detractor');
  await analyzed(february.start, ['price', 'before'], 'detractor');
  await analyzed(lastOf(february), ['speed']);
  await analyzed(lastOf(february), ['speed']);
  await analyzed(lastOf(february), ['speed'], 'promoter', { held_reason: 'scanner' });
  await analyzed(new Date(february.start.getTime() - 1), ['price']);
  await (await scene()).analyzed(march.start, ['price']);
  assert.deepEqual(
    (await countThemes(db, org_id, march, february)).map((one) => ({ ...one })),
    [
      { theme: 'price', mentions: 3, before: 1, detractors: 1 },
      { theme: 'speed', mentions: 2, before: 2, detractors: 1 },
      { theme: 'app', mentions: 1, before: 0, detractors: 0 },
      { theme: 'care', mentions: 1, before: 0, detractors: 0 },
      { theme: 'gone', mentions: 1, before: 0, detractors: 1 },
    ],
  );
});

test('quotes are the newest longer comments per category', async () => {
  const { of, org_id, answer } = await scene();
  const long = (word: string) => word.padEnd(20, '.');
  const minute = (n: number) => new Date(march.start.getTime() + n * 60_000);
  const contact_id = await makeContact(db, of, { email: 'eve@people.test', name: 'Eve' });
  await makeContact(db, of, { name: 'Zoe' });
  await makeSurvey(db, org_id, { from_name: 'Bob' });
  await answer(minute(1), 'promoter', { comment: long('third') });
  await answer(minute(3), 'promoter', { comment: long('first'), contact_id });
  await answer(minute(2), 'promoter', { comment: long('second') });
  await answer(minute(4), 'promoter', { comment: 'short'.padEnd(19, '.') });
  await answer(minute(5), 'promoter', { comment: long('held'), held_reason: 'scanner' });
  await answer(minute(0), 'detractor', { comment: long('bad') });
  await answer(march.end, 'detractor', { comment: long('after') });
  await answer(lastOf(february), 'passive', { comment: long('before') });
  await (await scene()).answer(minute(1), 'passive', { comment: long('theirs') });
  const quotes = await listQuotes(db, org_id, march, 2);
  assert.deepEqual(
    quotes.map(({ comment, category }) => [category, comment]),
    [
      ['detractor', long('bad')],
      ['promoter', long('first')],
      ['promoter', long('second')],
    ],
  );
  assert.deepEqual(quotes[1]?.known_names.toSorted(), ['Ann', 'Boss', 'Eve']);
  assert.ok(quotes[1]?.known_addresses.includes('eve@people.test'));
});
