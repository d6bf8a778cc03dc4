import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commandWriter } from '../../src/audit/acts.ts';
import { exportJudgement, viewJudgement } from '../../src/campaigns/campaign.ts';
import { insertRejects } from '../../src/contacts/upload.queries.ts';
import { saveUpload } from '../../src/contacts/upload.ts';
import { makeContacts } from '../support/make/campaigns.ts';
import { makeContact, makeOrganization, makeSurvey } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();

/** A survey and a second one whose contacts were all asked. */
async function scene(organization = {}, over = {}) {
  const orgId = await makeOrganization(db, organization);
  const [surveyId, other] = [await makeSurvey(db, orgId, over), await makeSurvey(db, orgId)];
  await makeContacts(db, { orgId, surveyId: other }, { count: 5, status: 'sent' });
  const survey = { orgId, surveyId };
  const add = (email: string, over = {}) =>
    makeContact(db, { org_id: orgId, survey_id: surveyId }, { email, ...over });
  return {
    survey,
    add,
    block: async (kind: 'unsubscribed' | 'bounced', emails: readonly string[]) => {
      for (const email of emails) {
        await add(email);
        await db`insert into suppressions ${db({ org_id: orgId, email, kind })}`;
      }
    },
    /** Rows of an uploaded list that were skipped. */
    reject: async (lines: readonly number[]) => {
      const bytes = new TextEncoder().encode('ann@people.test\n');
      const uploadId = await saveUpload({ db }, commandWriter(orgId), {
        surveyId,
        name: 'list.csv',
        bytes,
      });
      const rejects = lines.map((line) => ({ line, value: line === 2 ? '' : `v${line}` }));
      const rows = rejects.map((each) => ({ ...each, reason: 'bad' }));
      await insertRejects(db, { orgId, uploadId }, rows);
      await db`update contact_uploads set imported_at = now(), rejected = ${lines.length} where id = ${uploadId}`;
    },
  };
}

const places = (count: number) => Array.from({ length: count }, (_, place) => place + 1);

test('reasons are sorted: asked before, then by count, then invalid rows', async () => {
  const { survey, add, block, reject } = await scene();
  await add('done@people.test', { status: 'responded', responded_at: new Date() });
  await add('ann@people.test');
  await block('unsubscribed', ['a1@people.test']);
  const bounced = places(9).map((place) => `b${place}@people.test`);
  await block('bounced', bounced);
  await reject(places(10).map((place) => place + 1));
  const { reasons, ...counts } = await viewJudgement(db, survey);
  assert.partialDeepStrictEqual(counts, { mailed: 1, blocked: 10, invalid: 10, alreadyAsked: 1 });
  const shown = (emails: readonly string[]) => emails.map((email) => ({ email, remark: null }));
  assert.deepEqual(reasons, [
    { code: 'already_sent', people: 1, examples: [] },
    { code: 'bounced', people: 9, examples: shown(bounced.slice(0, 8)) },
    { code: 'unsubscribed', people: 1, examples: shown(['a1@people.test']) },
    {
      code: 'invalid_email',
      people: 10,
      examples: places(8).map((place) => ({
        email: place === 1 ? '(empty)' : `v${place + 1}`,
        remark: `line ${place + 1}: bad`,
      })),
    },
  ]);
});

test('counts recipients without a value per placeholder', async () => {
  const texts = { de: { question_text: 'Zufrieden mit {{properties.modell|dem Rad}}?' } };
  const { survey, add, block } = await scene(
    {},
    {
      ...{ question_text: 'Hi {{name|you}}, how is {{properties.modell}}?', texts: db.json(texts) },
      thanks: db.json('Thanks, {{name|friend}}'),
    },
  );
  const properties = (own: object) => ({ properties: db.json(own as never) });
  await add('a@people.test', { name: 'Ada', ...properties({ Modell: 'E' }) });
  await add('b@people.test', { name: null, ...properties({}) });
  await add('c@people.test', { name: null, ...properties({ language: 'de', modell: '' }) });
  await block('bounced', ['d@people.test']);
  const { fallbacks, reader } = await viewJudgement(db, survey);
  assert.deepEqual(
    fallbacks.map((row) => [row.placeholder, row.without, row.readers, [...row.fallbacks].sort()]),
    [
      ['name', 1, 2, ['friend', 'you']],
      ['properties.modell', 2, 3, ['', 'dem Rad']],
    ],
  );
  assert.equal(reader?.email, 'a@people.test');
});

test('counts all skipped rows and exports a thousand', async () => {
  const { survey, reject } = await scene();
  await reject(places(1001).map((place) => place + 1));
  const { invalid, alreadyAsked } = await viewJudgement(db, survey);
  assert.deepEqual([invalid, alreadyAsked], [1001, 0]);
  let csv = '';
  for await (const part of exportJudgement(db, survey)) csv += part;
  const lines = csv.trim().split('\r\n');
  assert.equal(lines.length, 1001);
  assert.deepEqual(
    [lines[0], lines[2], lines[1000]],
    [
      'email,will_be_mailed,reason,reason_code,line',
      'v3,false,bad,invalid_email,3',
      'v1001,false,bad,invalid_email,1001',
    ],
  );
});
