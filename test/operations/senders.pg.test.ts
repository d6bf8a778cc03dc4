import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listSenders } from '../../src/operations/queries.ts';
import { makeOrganization, makeSurvey } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();

test('listSenders orders senders by their open surveys, at most 1,000', async () => {
  const [org, other] = [await makeOrganization(db), await makeOrganization(db)];
  const add = async (of: string, times: number, from_email: string, over = {}) => {
    for (let time = 0; time < times; time++) await makeSurvey(db, of, { from_email, ...over });
  };
  await add(org, 1, 'a@acme.test');
  await add(org, 2, 'd@acme.test');
  await add(org, 2, 'b@acme.test', { status: 'draft' });
  await add(org, 3, 'e@acme.test', {
    status: 'completed',
    completed_by: 'hand',
    completed_at: new Date(),
  });
  await add(other, 3, 'c@acme.test');
  const own = ['b@acme.test', 'd@acme.test', 'a@acme.test'];
  assert.deepEqual(await listSenders(db, org), own);
  assert.deepEqual(await listSenders(db, null), ['c@acme.test', ...own]);
  await db`
    insert into surveys (org_id, name, question_text, from_name, from_email, reply_to, share_id)
    select ${org}, 'One', 'One?', 'Ann', 'n' || n || '@acme.test', 'ann@acme.test', gen_random_uuid()::text
    from generate_series(1, 1000) n`;
  const many = await listSenders(db, org);
  assert.deepEqual([many.length, ...many.slice(0, 3)], [1000, ...own]);
  assert.equal((await listSenders(db, null)).length, 1000);
});
