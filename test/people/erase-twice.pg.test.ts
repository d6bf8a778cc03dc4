import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { finishErasure } from '../../src/people/erase.ts';
import { erasableScene, erasureFolder } from '../support/make/erasure.ts';
import { testDatabase } from '../support/probe/database.ts';

/** Rows of a person who was erased before. */
const { db } = await testDatabase();
const folder = erasureFolder();

test('erasing again adds to the counts of the same receipt', async () => {
  const { org, add, erase, erasuresFile } = await erasableScene(db, folder);
  const first = await erase();
  // Only a restored backup can bring rows back past the receipt.
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

/** Mailbox messages when an erasure finishes: recipient, arrival, and if they stay. */
const arrived: {
  to: string;
  afterMs: number;
  allowed?: boolean;
  other?: boolean;
  stays: boolean;
}[] = [
  { to: 'ada@people.test', afterMs: 1000, stays: false },
  { to: 'Ada@People.test', afterMs: 0, stays: false },
  { to: 'ada@people.test', afterMs: -7_200_000, stays: false },
  { to: 'bob@people.test', afterMs: 1000, stays: true },
  { to: 'ada@people.test', afterMs: 1000, allowed: true, stays: true },
  { to: 'ada@people.test', afterMs: 1000, other: true, stays: true },
];
for (const { to, afterMs, allowed = false, other = false, stays } of arrived) {
  const of = `${other ? 'another organization' : 'one'} that erased Ada${allowed ? ' and allowed her again' : ''}`;
  test(`mail to ${to} ${afterMs / 1000} s after ${of} ${stays ? 'stays' : 'is deleted'}`, async () => {
    const { org, tools, erase } = await erasableScene(db, folder);
    const { id } = await erase();
    await db`delete from mailbox_messages`;
    await db`
      insert into mailbox_messages (mail_from, rcpt_to, subject, raw, received_at)
      select 'us@acme.test', ${to}, 'hello', ${Buffer.from('Subject: hello')},
             erased_at + make_interval(secs => ${afterMs / 1000})
      from erasures where id = ${id}`;
    if (allowed) await db`update erasures set allowed_at = now() where id = ${id}`;
    const erasing = other ? (await erasableScene(db, folder)).org : org;
    await finishErasure(tools, { org_id: erasing, erasure_id: id });
    assert.equal((await db`select from mailbox_messages`).length, stays ? 1 : 0);
  });
}
