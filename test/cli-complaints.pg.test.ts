import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeOrganization } from './support/make/rows.ts';
import { testDatabase } from './support/probe/database.ts';
import { askback, secretKey } from './support/processes/program.ts';

const { db, url } = await testDatabase();
const environment = { DATABASE_URL: url, ASKBACK_SECRET_KEY: secretKey };
const run = (...words: string[]) => askback(words, environment);

test('audit list takes the name of an act, and suggests one for a name that is almost right', async () => {
  const org = await makeOrganization(db);
  await run('key', 'create', '--org', org, '--name', 'ours');
  await run('tag', 'create', '--org', org, '--name', 'vip');

  const keys = await run('audit', 'list', '--org', org, '--act', 'key.created', '--json');
  const wrong = await run('audit', 'list', '--org', org, '--act', 'key.create');

  const listed = JSON.parse(keys.stdout).map(({ act }: { act: string }) => act);
  assert.deepEqual(listed, ['key.created']);
  assert.equal(wrong.code, 2);
  assert.match(
    wrong.stderr,
    /^askback: --act must be an act, such as key\.created; did you mean 'key\.created'\?/,
  );
});

test('a survey made from a file that is not JSON names the file', async () => {
  const org = await makeOrganization(db);
  const required = [
    '--name',
    'n',
    '--question',
    'q',
    '--from-name',
    'a',
    '--from-email',
    'a@b.test',
  ];
  const words = ['survey', 'create', '--org', org, ...required, '--fields', 'README.md'];
  const { code, stderr } = await run(...words);
  assert.deepEqual([code, stderr], [1, 'askback: README.md is not JSON\n']);
});
