import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertWithout, placeOf, readFiles } from './support/walls/sources.ts';

/** Which place writes a table. Any query may read any table; only its owner changes it. */
const owner: Record<string, string> = {
  organizations: 'organizations',
  mail_usage: 'organizations',
  former_slugs: 'organizations',
  organization_logos: 'organizations',
  audit_events: 'audit',
  notification_choices: 'notifications',
  notification_contents: 'notifications',
  notifications: 'notifications',
  slack_hooks: 'notifications',
  sessions: 'sessions',
  members: 'members',
  memberships: 'members',
  member_links: 'members',
  passkeys: 'members',
  recovery_codes: 'members',
  proof_attempts: 'members',
  spent_handshakes: 'members',
  api_keys: 'keys',
  organization_writes: 'keys',
  rate_windows: 'keys',
  idempotency_keys: 'keys',
  surveys: 'surveys',
  contacts: 'contacts',
  contact_uploads: 'contacts',
  contact_upload_chunks: 'contacts',
  contact_upload_rejects: 'contacts',
  tags: 'tags',
  responses: 'responses',
  response_tags: 'responses',
  response_notes: 'responses',
  link_visits: 'responses',
  mails: 'sends',
  campaigns: 'campaigns',
  campaign_batches: 'campaigns',
  campaign_contacts: 'campaigns',
  suppressions: 'suppressions',
  blocked_mails: 'sends',
  mailbox_messages: 'mailbox',
  webhooks: 'webhooks',
  events: 'webhooks',
  pending_deliveries: 'webhooks',
  ended_deliveries: 'webhooks',
  delivery_attempts: 'webhooks',
  waiting_analyses: 'responses',
  analyses: 'summaries',
  themes: 'summaries',
  summaries: 'summaries',
  erasures: 'people',
  reporters: 'reporters',
  worker_pools: 'lib/queue',
  service_record: 'service-record.ts',
};

/** Tables that only the triggers of the migrations write. */
const derived = ['survey_tallies', 'hour_tallies', 'asked_tallies', 'response_facets'];

const files = readFiles('src/**/*.{ts,tsx}');
const isQueries = (path: string): boolean => /(^|[/.])queries\.ts$|\.cte\.ts$/.test(path);

test('a table is written by its own room', () => {
  for (const { path, text } of files) {
    for (const table of tablesWritten(text)) {
      const advice = `call a function of ${owner[table]} that writes it; reading is free`;
      assert.equal(placeOf(path), owner[table], `${path} writes ${table}: ${advice}`);
    }
  }
});

test('every table has an owner, and every owner a table', () => {
  const migrations = readFiles('sql/migrations/*.sql').map(({ text }) => text);
  const created = [...migrations.join('\n').matchAll(/create (?:unlogged )?table (\w+)/g)];
  const tables = created.map(([, table]) => table!);
  for (const table of tables) {
    const known = table in owner || derived.includes(table);
    assert.ok(known, `${table}: say in this test which room writes it`);
  }
  for (const table of Object.keys(owner)) {
    assert.ok(tables.includes(table), `${table} is no longer made by a migration: remove it here`);
  }
});

test('SQL of a room stands in its queries', () => {
  for (const { path, text } of files) {
    if (isQueries(path) || !/^src\/(?!lib\/)\w+\//.test(path)) continue;
    const advice = 'move the statement into queries.ts, NAME.queries.ts or NAME.cte.ts of the room';
    assertWithout(text, /\b(?:sql|db|tx)(?:<[^`]*>)?`/, `${path}: ${advice}`);
  }
});

test('queries know Postgres and nothing else', () => {
  for (const { path, text } of files.filter((file) => isQueries(file.path))) {
    const advice = 'take plain values and return rows; the caller serves, queues and traces';
    assertWithout(text, /from '(hono|graphile-worker|@opentelemetry)/, `${path}: ${advice}`);
  }
});

test('transactions begin in one place', () => {
  for (const { path, text } of files) {
    if (path.startsWith('src/lib/db/')) continue;
    const advice = 'use inTransaction(db, work) of lib/db: it sets isolation and time limits';
    assertWithout(text, /\.begin\(/, `${path}: ${advice}`);
  }
});

test('only migrations and backups run text as SQL', () => {
  for (const { path, text } of files) {
    if (/^src\/lib\/(db\/migrate|backup|embedded-postgres)/.test(path)) continue;
    assertWithout(text, /\.unsafe\(/, `${path}: write a tagged statement with parameters`);
  }
});

test('a function of another room is called by its own name', () => {
  for (const { path, text } of files) {
    const advice = `${path}: import the function itself where it is used`;
    assertWithout(text, /^export const \w+ = [a-z]\w*;$/m, advice);
  }
});

function tablesWritten(text: string): string[] {
  const written = text.matchAll(/\b(?:insert into|(?<!for |do )update|delete from)\s+(\w+)/g);
  return [...written].map(([, table]) => table!).filter((table) => table in owner);
}

test('a session that holds a lease finds a dead machine in 15 s, whatever its transactions do', () => {
  for (const { path, text } of files) {
    const settings = [...text.matchAll(/set_config\('tcp_keepalives_(\w+)', '(\d+)', (\w+)\)/g)];
    if (settings.length === 0) continue;
    const seconds = Object.fromEntries(settings.map(([, name, value]) => [name, Number(value)]));
    const { idle = 0, interval = 0, count = 0 } = seconds;
    assert.equal(idle + interval * count, 15, path);
    assert.ok(
      settings.every(([, , , isLocal]) => isLocal === 'false'),
      `${path}: for the session, not for a transaction`,
    );
  }
});

test('a refusal that a constraint decides names one that exists', () => {
  const statements = readFiles('sql/**/*.sql').map(({ text }) => text);
  const named = readFiles('src/**/*.{ts,tsx}').flatMap(({ text }) =>
    [...text.matchAll(/\bviolates\(\w+, '(\w+)'\)/g)].map(([, name]) => name!),
  );
  assert.ok(named.length >= 9);
  const missing = named.filter(
    (name) => !statements.some((text) => new RegExp(`\\b${name}\\b`).test(text)),
  );
  assert.deepEqual(missing, []);
});
