import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { commandLine } from '../../src/cli.ts';
import type { CommandTools } from '../../src/command-tools.ts';
import { loadConfig } from '../../src/settings.ts';
import { campaignRunner, makeContacts } from '../support/make/campaigns.ts';
import { makeOrganization, makeSurvey } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db, url } = await testDatabase();

const environment = {
  DATABASE_URL: url,
  ASKBACK_SECRET_KEY: Buffer.alloc(32, 1).toString('base64'),
};

const tools: CommandTools = {
  config: () => loadConfig(environment, () => ''),
  environment,
  say: () => {},
  print: () => {},
  stopSignal: async () => 'SIGTERM',
};

/** What a command prints. */
async function run(name: string, ...words: string[]) {
  const command = commandLine.commands.find((each) => each.name === name)!;
  const { output, exitCode } = await command.run(tools, words, 'askback');
  assert.equal(exitCode, 0);
  return output;
}

const json = async (name: string, ...words: string[]) =>
  JSON.parse(await run(name, ...words, '--json'));

async function scene(organization = {}) {
  const orgId = await makeOrganization(db, organization);
  const surveyId = await makeSurvey(db, orgId);
  await makeContacts(db, { orgId, surveyId }, { count: 3 });
  const { clock, workFor } = campaignRunner(db, orgId);
  return {
    orgId,
    surveyId,
    /** Commands make campaigns by the machine's clock, which has gone on since the scene was made. */
    workFor: (seconds: number) => {
      clock.at = new Date();
      return workFor(seconds);
    },
  };
}

async function unsubscribeOne(orgId: string) {
  await db`
    insert into suppressions (org_id, email, kind)
    select org_id, email, 'unsubscribed' from contacts where org_id = ${orgId} limit 1`;
}

test('a campaign is made, paused, resumed, listed and read to its results', async () => {
  const { surveyId, workFor } = await scene();
  const made = await json('campaign create', '--survey', surveyId, '--name', 'Spring');
  assert.deepEqual([made.name, made.status, made.remaining], ['Spring', 'running', 3]);
  const status = async (word: string) => (await json(`campaign ${word}`, '--id', made.id)).status;
  assert.equal(await status('pause'), 'paused');
  assert.equal(await status('show'), 'paused');
  assert.equal(await status('resume'), 'running');
  await workFor(5);
  const text = await run('campaign list', '--survey', surveyId);
  assert.match(text, new RegExp(`${made.id} +finished +3 +3 +0 +0 +0 +Spring`));
  const results = await json('campaign results', '--id', made.id);
  assert.deepEqual(
    results.map((each: { status: string }) => each.status),
    ['sent', 'sent', 'sent'],
  );
});

test('tables say what became of a campaign and of each contact', async () => {
  const { orgId, surveyId, workFor } = await scene();
  await unsubscribeOne(orgId);
  const { id } = await json('campaign create', '--survey', surveyId, '--name', 'Spring');
  await workFor(5);
  const list = await run('campaign list', '--survey', surveyId);
  assert.match(list, /id +status +total +sent +duplicates +failed +remaining +name/);
  assert.match(list, new RegExp(`${id} +finished +3 +2 +1 +0 +0 +Spring`));
  assert.match(await run('campaign show', '--id', id), /status +finished\n/);
  const results = await run('campaign results', '--id', id);
  assert.match(results, /email +status +at +reason/);
  assert.match(results, /@\S+ +duplicate .*unsubscribed/);
});

test('what cannot be is refused with a sentence', async () => {
  const { surveyId } = await scene({ monthly_send_limit: 2 });
  await assert.rejects(run('campaign create', '--survey', surveyId), /limit/);
  await assert.rejects(run('campaign show', '--id', randomUUID()), /campaign not found/);
  const slowest = ['--survey', surveyId, '--per-hour', '1', '--dry-run'];
  assert.match(await run('campaign create', ...slowest), /would be mailed +3/);
  for (const perHour of ['0', '1000001']) {
    await assert.rejects(
      run('campaign create', '--survey', surveyId, '--per-hour', perHour),
      /per-hour/,
    );
  }
});
