import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { commandLine } from '../../src/cli.ts';
import { testDatabase } from '../support/probe/database.ts';

const page = ['operations', 'runbook']
  .map((name) => readFileSync(`ops/${name}.md`, 'utf8'))
  .join('\n');
const { db } = await testDatabase();

/** SQL blocks and inline statements, with numbers in place of ids. */
const statements = [
  ...[...page.matchAll(/^```sql\n([\s\S]*?)^```$/gm)].flatMap(([, block]) => block!.split(/;$/m)),
  ...[...page.matchAll(/`(select [^`]*);`/g)].map(([, statement]) => statement!),
]
  .map((statement) => statement.trim().replace(/\b(ID|PID)\b/g, '0'))
  .filter((statement) => statement !== '');

const rolledBack = new Error('rolled back');

for (const statement of statements) {
  test(`the runbook's statement runs: ${statement.replace(/\s+/g, ' ').slice(0, 40)}`, async () => {
    const role = statement.startsWith('alter role') ? 'create role askback;' : '';
    const tried = db.begin(async (tx) => {
      await tx.unsafe(role + statement);
      throw rolledBack;
    });
    await assert.rejects(tried, rolledBack);
  });
}

/** Every `askback ...` of the pages, to the end of its line or code. */
const calls = [...page.matchAll(/(?:^|[`(| ])askback ([a-z][^`\n#|]*)/gm)]
  .map(([, words]) => words!.trim())
  .filter((words) =>
    commandLine.commands.some(({ name }) => name.split(' ')[0] === words.split(' ')[0]),
  );

test('the operations page and the runbook contain commands', () => assert.ok(calls.length > 20));

for (const call of new Set(calls)) {
  test(`the manual's command exists: askback ${call}`, () => {
    const named = commandLine.commands.find(({ name }) => `${call} `.startsWith(`${name} `));
    assert.ok(named, 'there is no such command');
    for (const [option] of call.matchAll(/--[a-z-]+/g)) {
      assert.ok(named.help('askback').includes(option), `it has no ${option}`);
    }
  });
}
