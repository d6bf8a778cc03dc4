import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { inTransaction } from '../../src/lib/db/db.ts';
import {
  allSurveys,
  type CountedSurvey,
  closeByHand,
  completeAnswered,
  deleteSurveyRow,
  findUse,
} from '../../src/surveys/queries.ts';
import {
  makeClient,
  makeContact,
  makeOrganization,
  makeResponse,
  makeSurvey,
} from '../support/make/rows.ts';
import { testApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';
import { reader } from '../support/probe/read.ts';

const { db } = await testDatabase();

test('a survey completes with its own contacts and answers, whatever other surveys have', async () => {
  const org_id = await makeOrganization(db);
  const [done, open] = [await makeSurvey(db, org_id), await makeSurvey(db, org_id)];
  const answered = { status: 'responded', responded_at: new Date() };
  const contact_id = await makeContact(db, { org_id, survey_id: done }, answered);
  await makeResponse(db, { org_id, survey_id: done }, { contact_id });
  await makeContact(db, { org_id, survey_id: open });
  const shared = await makeSurvey(db, org_id);
  await makeResponse(db, { org_id, survey_id: shared });
  for (const survey of [open, shared])
    assert.equal(await completeAnswered(db, org_id, survey), undefined);
  const totals = { promoters: 1, passives: 0, detractors: 0, contacts: 1, responded: 1 };
  assert.partialDeepStrictEqual(await completeAnswered(db, org_id, done), totals);
  assert.partialDeepStrictEqual(await closeByHand(db, org_id, open), {
    promoters: 0,
    passives: 0,
    detractors: 0,
    contacts: 1,
    responded: 0,
    was: 'active',
    was_closed: false,
  });
});

test('what a survey was used for is its own use, whatever other surveys were used for', async () => {
  const { id: org_id, read } = await makeClient(db);
  const makeOf = async () => ({ org_id, survey_id: await makeSurvey(db, org_id) });
  const [unused, answered, held, mailed] = [
    await makeOf(),
    await makeOf(),
    await makeOf(),
    await makeOf(),
  ];
  await makeResponse(db, answered);
  await makeResponse(db, held, { held_reason: 'hidden_link' });
  const contact_id = await makeContact(db, mailed, { status: 'sent', sent_at: new Date() });
  const mail = { contact_id, request_id: randomUUID(), email: 'a@people.test' };
  await db`insert into mails ${db({ ...mailed, ...mail, month: '2026-01-01', status: 'sent' })}`;
  const uses = [];
  for (const { survey_id } of [unused, answered, held, mailed]) {
    const use = await findUse(db, org_id, survey_id);
    uses.push([use.answered, use.mailed]);
  }
  assert.deepEqual(uses, [
    [false, false],
    [true, false],
    [true, false],
    [false, true],
  ]);
  const own = new Map([
    [mailed.survey_id, [1, 0]],
    [held.survey_id, [0, 0]],
    [answered.survey_id, [0, 1]],
    [unused.survey_id, [0, 0]],
  ]);
  const { data } = await reader(testApp(db), read).json<{ data: CountedSurvey[] }>(
    '/api/v1/surveys',
  );
  for (const listed of [data, await allSurveys(db, org_id)]) {
    const counts = listed.map(
      ({ id, sent_count, response_count }) => [id, [sent_count, response_count]] as const,
    );
    assert.deepEqual(new Map(counts), own);
  }
});

test('a survey is deleted alone, and may take twenty minutes where nothing else may', async () => {
  const org_id = await makeOrganization(db);
  const [gone, kept] = [await makeSurvey(db, org_id), await makeSurvey(db, org_id)];
  await db.unsafe(`
    create table time_of_deletes (most text);
    create function keep_time() returns trigger language plpgsql as $$
      begin insert into time_of_deletes values (current_setting('statement_timeout')); return old; end $$;
    create trigger keep_time before delete on surveys for each row execute function keep_time()`);
  await inTransaction(db, (tx) => deleteSurveyRow(tx, org_id, gone));
  await db`drop trigger keep_time on surveys`;
  assert.deepEqual([...(await db`select most from time_of_deletes`)], [{ most: '20min' }]);
  const left = await db`select id from surveys where org_id = ${org_id}`;
  assert.deepEqual([...left], [{ id: kept }]);
});
