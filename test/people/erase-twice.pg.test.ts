import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { finishErasure } from '../../src/people/erasure/finish.ts';
import { erasableScene, erasureFolder } from '../support/make/erasure.ts';
import { testDatabase } from '../support/probe/database.ts';

/** What an erasure finds of a person that was erased before. */
const { db } = await testDatabase();
const folder = erasureFolder();

test('what comes back under a receipt is erased under it: its counts add up, and the file has them', async () => {
  const { org, add, erase, erasuresFile } = await erasableScene(db, folder);
  const first = await erase();
  // As a restored backup brings it back: past the receipt, which refuses every other way in.
  await db`create table receipts as select * from erasures where org_id = ${org}`;
  await db`delete from erasures where org_id = ${org}`;
  await add();
  await db`insert into erasures select * from receipts`;
  await db`drop table receipts`;

  const second = await erase();
  assert.equal(second.id, first.id);
  assert.deepEqual([first.counts.contacts, second.counts.contacts], [1, 2]);
  assert.deepEqual([first.counts.comments, second.counts.comments], [1, 2]);
  const filed = readFileSync(erasuresFile, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { counts: { contacts: number } });
  assert.deepEqual(
    filed.map(({ counts }) => counts.contacts),
    [1, 2],
  );
  assert.deepEqual((await erase()).counts, second.counts);
});

test('a mail that arrives in the mailbox during an erasure is deleted after it, and those of others stay', async () => {
  const { org, tools, erase } = await erasableScene(db, folder);
  const { id } = await erase();
  for (const rcpt_to of ['ada@people.test', 'bob@people.test']) {
    await db`
      insert into mailbox_messages (mail_from, rcpt_to, subject, raw)
      values ('us@acme.test', ${rcpt_to}, 'hello', ${Buffer.from('Subject: hello')})`;
  }
  await finishErasure(tools, { org_id: org, erasure_id: id });
  const left = await db`select rcpt_to from mailbox_messages`;
  assert.deepEqual(
    left.map(({ rcpt_to }) => rcpt_to),
    ['bob@people.test'],
  );
});
