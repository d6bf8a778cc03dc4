import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { backup } from '../../src/lib/backup/backup.ts';
import { restore } from '../../src/lib/backup/restore.ts';
import { migrate } from '../../src/lib/db/migrate.ts';
import { listSteps } from '../../src/lib/db/migrate-step-state.ts';
import { createLog } from '../../src/lib/log/log.ts';
import { startSteps } from '../../src/migration-steps.ts';
import { archive } from '../../src/operations/archive.ts';
import { openSteps } from '../../src/operations/health.ts';
import { makeOrganization } from '../support/make/rows.ts';
import { emptyDatabase } from '../support/probe/database.ts';
import { askback, secretKey } from '../support/processes/program.ts';

const folder = mkdtempSync(join(tmpdir(), 'askback-steps-'));
after(() => rmSync(folder, { recursive: true }));

/** A database in which one step is half done. */
async function halfDone() {
  const { db, url } = await emptyDatabase();
  await migrate(db);
  await makeOrganization(db);
  await db`
    update migration_steps
    set ended_at = null, rows_done = 5, rows_estimated = 20,
        last_key = '["00000000-0000-4000-8000-000000000000", "2026-01-05"]'
    where name = '0070_figures_of_surveys'`;
  return { db, url };
}

test('a backup in the middle of a step has how far it was', async () => {
  const { db } = await halfDone();
  const file = join(folder, 'half-done.backup');
  await backup(db, { archive, file, secretKey: null });
  const { db: fresh } = await emptyDatabase();
  await restore(fresh, file, { archive, keepKey: () => {}, afterwards: [] });

  const rows = (sql: typeof db) => sql`select * from migration_steps order by name`;
  assert.deepEqual(await rows(fresh), await rows(db));
});

test('readiness warns of a step, and migrate names it and finishes it when it is asked to', async () => {
  const { db, url } = await halfDone();
  const sentence =
    'step 0070_figures_of_surveys of a migration is under way: 5 of about 20 days (25 %)';
  const listed = (await listSteps(db)).map(({ name }) => name);
  assert.deepEqual(listed, listed.toSorted());
  assert.equal(await openSteps(db)(), sentence);
  const environment = { DATABASE_URL: url, ASKBACK_SECRET_KEY: secretKey };
  const { stdout } = await askback(['migrate'], environment);
  assert.equal(
    stdout,
    `the database is up to date\n${sentence}\naskback serve does this while it answers; askback migrate --steps does it without the service\n`,
  );

  const { stdout: json, code } = await askback(['migrate', '--steps', '--json'], environment);
  assert.deepEqual([code, JSON.parse(json)], [0, { applied: [], steps: [] }]);
  assert.ok((await listSteps(db)).every(({ ended_at }) => ended_at !== null));
  assert.equal(await openSteps(db)(), undefined);
});

test('migrate --steps ends with why a step fails, also while others wait, and finds nothing to do where all have ended', async () => {
  const { db, url } = await emptyDatabase();
  await migrate(db);
  const [first, ...others] = (await listSteps(db)).map(({ name }) => name);
  assert.ok(first && others.length > 0);
  const environment = { DATABASE_URL: url, ASKBACK_SECRET_KEY: secretKey };
  const ended = await askback(['migrate', '--steps', '--json'], environment);
  assert.deepEqual([ended.code, JSON.parse(ended.stdout)], [0, { applied: [], steps: [] }]);

  await db`update migration_steps set ended_at = null`;
  await db`
    update migration_steps
    set failure = 'no room', failures = 2, started_at = now(), retry_at = now() + interval '1 hour'
    where name = ${first}`;
  const failed = await askback(['migrate', '--steps'], environment);
  assert.deepEqual(
    [failed.code, failed.stderr],
    [1, `askback: step ${first} of a migration failed 2 times and is tried again: no room\n`],
  );
});

test('where no step is open, none is looked for and no connection is made', async () => {
  const { db, url } = await emptyDatabase();
  await migrate(db);
  const log = createLog({ level: 'silent' });
  const sessions = (to: string) => ({ db, url: to });
  const nowhere = 'postgres://127.0.0.1:1/nothing';
  const idle = await startSteps({ sessions: sessions(nowhere), log });
  const ended = idle.ended.then(() => 'ended');
  assert.equal(await Promise.race([ended, setImmediate('at work')]), 'ended');
  await idle.stop();

  await db`update migration_steps set ended_at = null where name = '0070_figures_of_surveys'`;
  const open = await startSteps({ sessions: sessions(url), log });
  await open.ended;
  await open.stop();
  assert.ok((await listSteps(db)).every(({ ended_at }) => ended_at !== null));
});
