import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commandWriter } from '../../src/audit/acts.ts';
import { importExport, openExport } from '../../src/importers/import.ts';
import { verdict } from '../../src/importers/report.ts';
import { delighted } from '../../src/importers/rows.ts';
import { inTransaction } from '../../src/lib/db/db.ts';
import { beginErasure } from '../../src/people/erase.queries.ts';
import { makeOrganization, makeSurvey } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';
import { untilLockWaits } from '../support/probe/locks.ts';

const { db } = await testDatabase();

async function survey() {
  const orgId = await makeOrganization(db);
  const surveyId = await makeSurvey(db, orgId, {});
  return { ...commandWriter(orgId), surveyId, author: 'Delighted' };
}

const options = { type: 'nps', zone: 'UTC', dryRun: false } as const;
const open = (text: string) =>
  openExport(delighted, { name: 'export.csv', pieces: () => [text] }, undefined);
const quiet = () => {};

const rows = (count: number) =>
  Array.from({ length: count }, (_, row) => {
    const email = row % 3 === 0 ? '' : `person${row % 500}@people.test`;
    return `${row % 11},"said ${row % 7},\nand more",2024-03-0${1 + (row % 3)} 10:00:00 UTC,${email}\n`;
  });
const file = `Score,Comment,Created At,Email\n${rows(1800).join('')}`;

const countOf = async (surveyId: string) =>
  (await db`select count(*)::int from responses where survey_id = ${surveyId}`)[0]?.['count'];

test('import that was interrupted continues when repeated', async () => {
  const writer = await survey();
  const given = { ...options, export: await open(file) };
  const killed = (done: number) => {
    if (done >= 1000) throw new Error('killed');
  };
  await assert.rejects(importExport({ db, onProgress: killed }, writer, given), /killed/);
  assert.equal(await countOf(writer.surveyId), 1000);

  const report = await importExport({ db, onProgress: quiet }, writer, given);
  assert.deepEqual([report.before.responses, report.imported.responses], [1000, 800]);
  assert.deepEqual(report.after, report.inFile);
});

test('concurrent imports of a file import each response once', async () => {
  const writer = await survey();
  const given = { ...options, export: await open('Score,Created At\n9,2024-03-01\n') };
  const tools = { db, onProgress: quiet };
  const both = await inTransaction(db, async (tx) => {
    await tx`lock table responses in share mode`;
    const running = [importExport(tools, writer, given), importExport(tools, writer, given)];
    await untilLockWaits(db, 2);
    return { running };
  });
  const [one, other] = await Promise.all(both.running);
  assert.equal(one!.imported.responses + other!.imported.responses, 1);
  assert.equal(await countOf(writer.surveyId), 1);
});

test('verdict explains a response that arrived during the import', async () => {
  const writer = await survey();
  const given = { ...options, export: await open(file) };
  let isLate = false;
  const late = async () => {
    if (isLate) return;
    isLate = true;
    await db`insert into responses (org_id, survey_id, source, score, category)
      values (${writer.orgId}, ${writer.surveyId}, 'share', 10, 'promoter')`;
  };
  const others: Promise<void>[] = [];
  const onProgress = () => void others.push(late());
  const report = await importExport({ db, onProgress }, writer, given);
  await Promise.all(others);
  assert.match(
    verdict(report),
    /^During the import, 1 response arrived: the survey now has 1801\.$/,
  );
});

const imported = async (writer: Awaited<ReturnType<typeof survey>>, text: string) =>
  await importExport({ db, onProgress: quiet }, writer, { ...options, export: await open(text) });

const recorded = async (orgId: string) => {
  const events = await db<{ act: string }[]>`
    select act from audit_events where org_id = ${orgId} order by at, id`;
  return events.map(({ act }) => act);
};

for (const [what, text, act] of [
  ['responses of several batches', file, 'responses.imported'],
  ['responses without a person', 'Score,Created At\n9,2024-03-01\n', 'responses.imported'],
  ['people', 'Email\nann@people.test\n', 'contacts.imported'],
  [
    'addresses that unsubscribed',
    'Email,Unsubscribed At\nann@people.test,2024-03-01\n',
    'contacts.imported',
  ],
] as const) {
  test(`import of ${what} is audited once`, async () => {
    const writer = await survey();
    for (const _ of [1, 2]) {
      await imported(writer, text);
      assert.deepEqual(await recorded(writer.orgId), [act]);
    }
  });
}

test('last line of a person or address counts', async () => {
  const writer = await survey();
  await imported(writer, 'Email,Name,Plan\nann@people.test,Ann,free\nAnn@people.test,,pro\n');
  const contacts = await db`
    select email, name, properties from contacts where survey_id = ${writer.surveyId}`;
  const known = { email: 'Ann@people.test', name: 'Ann', properties: { Plan: 'pro' } };
  assert.deepEqual([...contacts], [known]);
  const answers = ['9,2024-03-01,cyd@people.test,Cyd,free', '3,2024-03-01,cyd@people.test,Syd,pro'];
  await imported(writer, `Score,Created At,Email,Name,Plan\n${answers.join('\n')}\n`);
  const answered = await db`
    select name, properties from contacts
    where survey_id = ${writer.surveyId} and email = 'cyd@people.test'`;
  assert.deepEqual([...answered], [{ name: 'Syd', properties: { Plan: 'pro' } }]);
  const lines = ['bob@people.test,2024-03-01', 'bob@people.test,2024-03-05'];
  await imported(writer, `Email,Unsubscribed At\n${lines.join('\n')}\n`);
  const suppressions = await db`
    select created_at from suppressions where org_id = ${writer.orgId}`;
  assert.deepEqual([...suppressions], [{ created_at: new Date('2024-03-05T00:00:00Z') }]);
});

test('import waits for a running erasure and skips the person', async () => {
  const writer = await survey();
  const text = 'Email\nann@people.test\nbob@people.test\n';
  let importing: ReturnType<typeof imported> | undefined;
  await db.begin(async (tx) => {
    await beginErasure(tx, writer.orgId);
    await tx`
      insert into erasures (org_id, address_hash, scores, counts)
      values (${writer.orgId}, address_hash(${writer.orgId}, 'ann@people.test'), 'kept', '{}')`;
    importing = imported(writer, text);
    await untilLockWaits(db);
  });
  const report = (await importing)!;
  assert.deepEqual([report.imported.contacts, report.imported.erased], [1, 1]);
});
