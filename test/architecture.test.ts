import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { test } from 'node:test';

/** Which room writes a table. Any query may read any table; only its owner may change it. */
const owner: Record<string, string> = {
  organizations: 'organizations',
  mail_usage: 'organizations',
  api_keys: 'keys',
  rate_windows: 'keys',
  idempotency_keys: 'keys',
  surveys: 'surveys',
  contacts: 'contacts',
  tags: 'tags',
  responses: 'responses',
  link_visits: 'responses',
  mails: 'sends',
  suppressions: 'suppressions',
  blocked_mails: 'sends',
  mailbox_messages: 'mailbox',
  webhooks: 'webhooks',
  deliveries: 'webhooks',
  delivery_attempts: 'webhooks',
  analyses: 'summaries',
  themes: 'summaries',
  summaries: 'summaries',
  outbox: 'lib/queue',
  worker_pools: 'lib/queue',
  service_record: 'service-record.ts',
  schema_migrations: 'lib/db',
};

/** What a file of a given name must not contain, and why. */
const forbidden: { files: RegExp; what: RegExp; why: string }[] = [
  {
    files: /\/rules\.ts$/,
    what: /from '(?!\.\/|\.\.\/scores|\.\.\/\w+\/rules|node:(crypto|zlib))/,
    why: 'rules are pure: plain data in, plain data out',
  },
  {
    files: /\/(rules|scores)\.ts$/,
    what: /\basync\b|Date\.now|new Date\(\)|randomUUID|randomBytes|Math\.random/,
    why: 'rules do no I/O and read no clock: pass them the time',
  },
  {
    files: /queries\.ts$/,
    what: /from '(hono|graphile-worker|@opentelemetry)/,
    why: 'queries know Postgres and nothing else',
  },
  {
    files: /queries\.ts$/,
    what: /from '\.\.\/(?!lib\/)\w+\/[\w.]*queries/,
    why: "queries do not call another room's queries; what they may build in is named .cte.ts",
  },
  { files: /queries\.ts$/, what: /\.begin\(/, why: 'transactions begin in flows' },
  { files: /\/(routes\.ts|pages\.tsx)$/, what: /\bsql`|\.begin\(/, why: 'SQL lives in queries.ts' },
  {
    files: /src\/(?!lib\/)\w+\/(?!.*(queries|\.cte)\.ts).*\.tsx?$/,
    what: /\b(?:sql|db|tx)(?:<[^`]*>)?`/,
    why: 'SQL lives in queries.ts',
  },
  {
    files: /src\/(?!lib\/(db\/migrate|backup|embedded-postgres))/,
    what: /\.unsafe\(/,
    why: 'only migrations and backups run text as SQL',
  },
  {
    files: /src\/(?!main\.ts)/,
    what: /process\.env/,
    why: 'the environment is read once, by main.ts',
  },
  {
    files: /./,
    what: /@opentelemetry\/(?!api)/,
    why: 'the SDK is loaded in one place, lazily',
  },
];

const exempt = new Map([['src/lib/tracing/telemetry.ts', /@opentelemetry/]]);

for (const file of globSync('src/**/*.{ts,tsx}').sort()) {
  test(`${file} keeps to its room`, () => {
    const text = readFileSync(file, 'utf8');
    for (const { files, what, why } of forbidden) {
      if (files.test(file) && !exempt.get(file)?.test(what.source)) {
        assert.ok(!what.test(text), `${why} (${what.exec(text)?.[0]})`);
      }
    }
    if (file.startsWith('src/lib/')) {
      for (const imported of importsOf(file, text)) {
        assert.match(imported, /^src\/(lib\/|errors\.ts$)/, 'a library knows no room');
      }
    }
    for (const table of tablesWritten(text)) {
      assert.equal(room(file), owner[table], `${table} is written by another room`);
    }
  });
}

test('every table has a room that writes it', () => {
  const migrations = globSync('sql/migrations/*.sql').map((file) => readFileSync(file, 'utf8'));
  const created = [...migrations.join('\n').matchAll(/create (?:unlogged )?table (\w+)/g)];
  const tallied = ['survey_tallies', 'day_tallies', 'organization_day_tallies'];
  for (const [, table] of created) {
    assert.ok(table! in owner || tallied.includes(table!), `${table} has no owner`);
  }
});

test('a file or folder is named for what it does', () => {
  for (const file of globSync('src/**/*.{ts,tsx}')) {
    assert.doesNotMatch(basename(file), /^(utils?|helpers?|types|common|index)\./, file);
  }
});

function room(file: string): string {
  const [, first = '', second = ''] = file.split('/');
  return first === 'lib' ? `lib/${second}` : first;
}

function importsOf(file: string, text: string): string[] {
  const relative = text.matchAll(/from '(\.[^']*)'/g);
  return [...relative].map(([, path]) => join(dirname(file), path!));
}

function tablesWritten(text: string): string[] {
  const written = text.matchAll(/\b(?:insert into|(?<!for |do )update|delete from)\s+(\w+)/g);
  return [...written].map(([, table]) => table!).filter((table) => table in owner);
}
