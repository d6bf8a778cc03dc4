import assert from 'node:assert/strict';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeOrganization, makeSurvey } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';
import { askback, secretKey } from '../support/processes/program.ts';

const { db, url } = await testDatabase();
const environment = { DATABASE_URL: url, ASKBACK_SECRET_KEY: secretKey };
const run = (...words: string[]) => askback(words, environment);
const acts = async (org: string) =>
  (await db`select act, actor_kind from audit_events where org_id = ${org} order by at`).map(
    (row) => `${row['actor_kind']} ${row['act']}`,
  );

function jsonFile(value: object) {
  const file = join(mkdtempSync(join(tmpdir(), 'survey-')), 'fields.json');
  writeFileSync(file, JSON.stringify(value));
  return file;
}

test('survey create reads fields from a file, and options override them', async () => {
  const org = await makeOrganization(db);
  const texts = { de: { question_text: 'Zufrieden?' } };
  const fields = jsonFile({
    texts,
    reminders: [{ after_days: 3 }],
    reply_to: 'file@acme.test',
    intro: 'Hello {{first_name|there}}',
    ask_after_days: 7,
  });
  const { code, stdout, stderr } = await run(
    'survey',
    'create',
    '--org',
    org,
    '--name',
    'Spring',
    '--question',
    'Happy?',
    '--json',
    '--from-name',
    'Ann',
    '--from-email',
    'ann@acme.test',
    '--fields',
    fields,
    '--reply-to',
    'ann@acme.test',
    '--type',
    'csat',
  );
  assert.equal(code, 0, stderr);
  const { id } = JSON.parse(stdout) as { id: string };
  const [row] =
    await db`select type, reply_to, intro, texts, reminders, ask_after_days from surveys where id = ${id}`;
  assert.deepEqual(
    { ...row },
    {
      type: 'csat',
      reply_to: 'ann@acme.test',
      intro: 'Hello {{first_name|there}}',
      texts,
      reminders: [{ after_days: 3 }],
      ask_after_days: 7,
    },
  );
  assert.deepEqual(await acts(org), ['command survey.created']);
});

test('survey update reads the questions from a file', async () => {
  const org = await makeOrganization(db);
  const survey = await makeSurvey(db, org);
  const file = jsonFile([{ kind: 'text', text: 'Why?' }]);
  const { code, stderr } = await run('survey', 'update', '--id', survey, '--questions', file);
  assert.equal(code, 0, stderr);
  const [row] = await db`select questions from surveys where id = ${survey}`;
  assert.partialDeepStrictEqual(row?.['questions'], [{ kind: 'text', text: 'Why?' }]);
});
