import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, test } from 'node:test';
import { makeOrganization, makeSurvey } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';
import { secretKey } from '../support/processes/program.ts';

const { db, url } = await testDatabase();
const folder = mkdtempSync(join(tmpdir(), 'askback-elsewhere-'));
after(() => rmSync(folder, { recursive: true }));

/** Called from outside the clone, without Node on the PATH. */
const askbackElsewhere = (words: string[]) =>
  execFileSync(resolve('ops/askback'), words, {
    cwd: folder,
    env: { PATH: '/usr/bin:/bin', DATABASE_URL: url, ASKBACK_SECRET_KEY: secretKey },
    encoding: 'utf8',
  });

test('ops/askback runs from any folder with any Node of the machine', () => {
  assert.match(askbackElsewhere(['version']), /^askback \d+\.\d+\.\d+\n$/);
});

test('ops/askback renders emails from any folder', async () => {
  const survey = await makeSurvey(db, await makeOrganization(db));
  const files = askbackElsewhere(['mail', 'preview', '--survey', survey]);
  assert.equal(files, `mail-${survey}.html\nmail-${survey}.txt\n`);
});
