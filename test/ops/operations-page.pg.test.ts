import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { commandLine } from '../../src/cli.ts';
import { testDatabase } from '../support/probe/database.ts';

const page = ['operations', 'runbook']
  .map((name) => readFileSync(`ops/${name}.md`, 'utf8'))
  .join('\n');
const { db } = await testDatabase();

/** In blocks of their own and within sentences; what stands for an id is any number. */
const statements = [
  ...[...page.matchAll(/^```sql\n([\s\S]*?)^```$/gm)].flatMap(([, block]) => block!.split(/;$/m)),
  ...[...page.matchAll(/`(select [^`]*);`/g)].map(([, statement]) => statement!),
]
  .map((statement) => statement.trim().replace(/\b(ID|PID)\b/g, '0'))
  .filter((statement) => statement !== '');

const undone = new Error('tried, and undone');

for (const statement of statements) {
  test(`runs: ${statement.replace(/\s+/g, ' ').slice(0, 80)}`, async () => {
    const role = statement.startsWith('alter role') ? 'create role askback;' : '';
    const tried = db.begin(async (tx) => {
      await tx.unsafe(role + statement);
      throw undone;
    });
    await assert.rejects(tried, undone);
  });
}

/** Every `askback ...` of the page, to the end of its line or of the code. */
const calls = [...page.matchAll(/(?:^|[`(| ])askback ([a-z][^`\n#|]*)/gm)]
  .map(([, words]) => words!.trim())
  .filter((words) =>
    commandLine.commands.some(({ name }) => name.split(' ')[0] === words.split(' ')[0]),
  );

test('operations and runbook have commands', () => assert.ok(calls.length > 20));

for (const call of new Set(calls)) {
  test(`can be called: askback ${call}`, () => {
    const named = commandLine.commands.find(({ name }) => `${call} `.startsWith(`${name} `));
    assert.ok(named, 'there is no such command');
    for (const [option] of call.matchAll(/--[a-z-]+/g)) {
      assert.ok(named.help('askback').includes(option), `it has no ${option}`);
    }
  });
}
