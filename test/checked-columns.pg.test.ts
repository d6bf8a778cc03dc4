import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testDatabase } from './support/probe/database.ts';

/** What the tables themselves refuse, whichever statement writes it: the edges of each check of one column. */
const { db } = await testDatabase();

type Edges = { takes: unknown[]; refuses: unknown[] };

const numbers = (least: number, most?: number): Edges => ({
  takes: most === undefined ? [least] : [least, most],
  refuses: most === undefined ? [least - 1] : [least - 1, most + 1],
});
/** A character is what a reader takes for one, of two UTF-16 units here. */
const text = (length: number) => '🙂'.repeat(length);
const texts = (least: number, most: number): Edges => ({
  takes: [text(least), text(most)],
  refuses: least > 0 ? [text(least - 1), text(most + 1)] : [text(most + 1)],
});
const bytes = (length: number) => Buffer.alloc(length);
const hashes: Edges = { takes: [bytes(32)], refuses: [bytes(31), bytes(33)] };
const colors: Edges = {
  takes: ['#09afAF'],
  refuses: ['#09afA', '#09afAFF', '09afAF', '#09afAg', 'x#09afAF'],
};

const columns: Record<string, Edges> = {
  ...Object.fromEntries(
    [
      'api_keys',
      'campaigns',
      'members',
      'organizations',
      'passkeys',
      'reporters',
      'surveys',
      'tags',
    ].map((table) => [`${table}.name`, texts(1, 200)]),
  ),
  'themes.name': texts(1, 100),
  'members.email': texts(3, 254),
  'organizations.postal_address': texts(0, 500),
  'organizations.mail_foot': texts(0, 500),
  'responses.comment': texts(0, 5000),
  'response_notes.text': texts(1, 5000),
  'organizations.slug': {
    takes: ['a'.repeat(80), 'a-0-z9'],
    refuses: ['', 'a'.repeat(81), 'A', 'a_b', '-a', 'a-', 'a--b'],
  },
  'suppressions.email': { takes: ['ann@x.test'], refuses: ['Ann@x.test', 'ann@x.Test'] },
  'organizations.color': colors,
  'tags.color': colors,
  'organizations.monthly_send_limit': numbers(0),
  'organizations.frequency_days': numbers(1),
  'organizations.keep_comments_days': numbers(1, 36_500),
  'organizations.keep_contacts_days': numbers(1, 36_500),
  'organizations.keep_mails_days': numbers(1, 36_500),
  'organizations.keep_openings_days': numbers(1, 90),
  'organization_logos.width': numbers(1),
  'organization_logos.height': numbers(1),
  'organization_logos.bytes': { takes: [bytes(262_144)], refuses: [bytes(262_145)] },
  'mail_usage.used': numbers(0),
  'surveys.ask_after_days': numbers(0, 365),
  'surveys.reminders': { takes: ['[]', '[1, 2, 3]'], refuses: ['[1, 2, 3, 4]', '{}'] },
  'responses.score': numbers(0, 10),
  'mails.reminder': numbers(0, 3),
  'campaigns.reminder': numbers(0, 3),
  'campaigns.per_hour': numbers(1, 1_000_000),
  'campaigns.waiting': numbers(0),
  'campaign_batches.mails': numbers(0),
  'webhooks.failure_count': numbers(0),
  'webhooks.events': { takes: [['x']], refuses: [[]] },
  'themes.words': { takes: [['x']], refuses: [[]] },
  'api_keys.secret_hash': hashes,
  'erasures.address_hash': hashes,
  'member_links.token_hash': hashes,
  'sessions.token_hash': hashes,
  'recovery_codes.code_hash': hashes,
  'spent_handshakes.hash': hashes,
};

type Check = { column: string; name: string; type: string; condition: string };

/** The checks of one column that compare: not those of which words or which JSON stand there. */
const checks = await db<Check[]>`
  select conrelid::regclass || '.' || attname as column, attname as name, format_type(atttypid, null) as type,
         pg_get_expr(conbin, conrelid) as condition
  from pg_constraint
  join pg_attribute on attrelid = conrelid and attnum = conkey[1]
  where contype = 'c' and connamespace = 'public'::regnamespace and cardinality(conkey) = 1
    and pg_get_expr(conbin, conrelid) ~ '[<>]=? [0-9]|~|length|lower'`;

test('each column with a check has its edges in the table', () => {
  const checked = new Set(checks.map(({ column }) => column));
  assert.deepEqual([...checked].toSorted(), Object.keys(columns).toSorted());
});

for (const [column, { takes, refuses }] of Object.entries(columns)) {
  test(`${column} takes what is at its edges, and refuses what is beyond`, async () => {
    const own = checks.filter((check) => check.column === column);
    const isTaken = async (value: unknown) => {
      let taken = true;
      for (const { name, type, condition } of own) {
        const [row] = await db<{ taken: boolean }[]>`
          select ${db.unsafe(condition)} as taken
          from (select ${value as string}::${db.unsafe(type === 'jsonb' ? 'text::jsonb' : type)} as ${db(name)}) of`;
        taken &&= row!.taken;
      }
      return taken;
    };
    for (const value of takes) assert.ok(await isTaken(value), `takes ${value}`);
    for (const value of refuses) assert.ok(!(await isTaken(value)), `refuses ${value}`);
  });
}
