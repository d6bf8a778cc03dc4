import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { createSecrets } from '../../src/lib/crypto/secrets.ts';
import { erasePerson } from '../../src/people/erasure/erase.ts';
import { openErasureFile } from '../../src/people/erasure/file.ts';
import { finishErasure } from '../../src/people/erasure/finish.ts';
import {
  makeContact,
  makeOrganization,
  makeResponse,
  makeSurvey,
  writeKeyOf,
} from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';

/** What an erasure finds of a person that was erased before. */
const { db } = await testDatabase();
const folder = mkdtempSync(join(tmpdir(), 'askback-twice-'));
after(() => rmSync(folder, { recursive: true }));
const file = join(folder, 'erasures.jsonl');
const erasureFile = openErasureFile({ erasuresFile: file }, folder, (sentence) => {
  throw new Error(sentence);
});
const tools = {
  ...{ db, erasureFile, secrets: createSecrets([Buffer.alloc(32, 7)]) },
  ...{ settings: { sendDeadlineSeconds: 60 }, pump: () => {} },
};
const email = 'ada@people.test';

async function person() {
  const org = await makeOrganization(db);
  const of = { org_id: org, survey_id: await makeSurvey(db, org) };
  const add = async () => {
    const contact_id = await makeContact(db, of, { email });
    await makeResponse(db, of, { contact_id, comment: 'slow as treacle' });
  };
  await add();
  const erase = () => erasePerson(tools, writeKeyOf(org), { email, scores: 'kept' });
  return { org, add, erase };
}

test('what comes back under a receipt is erased under it: its counts add up, and the file has them', async () => {
  const { org, add, erase } = await person();
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
  const filed = readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { org_id: string; counts: { contacts: number } })
    .filter(({ org_id }) => org_id === org);
  assert.deepEqual(
    filed.map(({ counts }) => counts.contacts),
    [1, 2],
  );
  assert.deepEqual((await erase()).counts, second.counts);
});

test('a mail that arrives in the mailbox during an erasure is deleted after it, and those of others stay', async () => {
  const { org, erase } = await person();
  const { id } = await erase();
  for (const rcpt_to of [email, 'bob@people.test']) {
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
