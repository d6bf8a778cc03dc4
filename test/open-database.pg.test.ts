import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openDatabase } from '../src/open-database.ts';
import { loadConfig } from '../src/settings.ts';
import { testDatabase } from './support/probe/database.ts';
import { until } from './support/probe/until.ts';
import { secretKey } from './support/processes/program.ts';

const [one, another] = [await testDatabase(), await testDatabase()];

const configOf = (environment: Record<string, string>) =>
  loadConfig({ ASKBACK_SECRET_KEY: secretKey, ...environment }, () => '');

/** Counts connections of the service. Connections of tests have no application name. */
async function openConnections(): Promise<number> {
  const [row] = await one.db<{ count: number }[]>`
    select count(*)::int as count
    from pg_stat_activity
    where application_name like 'askback%' and datname = current_database()`;
  return row!.count;
}

test('a refused start leaves no connection open', async () => {
  const config = configOf({
    DATABASE_URL: another.url,
    ASKBACK_SESSION_DATABASE_URL: one.url,
  });
  const opening = { say: () => {}, connections: 2, serving: true };
  await assert.rejects(openDatabase(config, opening), /must be the same database/);
  await until('the connections are closed', async () => (await openConnections()) === 0);
});
