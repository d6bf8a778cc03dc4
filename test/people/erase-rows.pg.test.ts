import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inTransaction } from '../../src/lib/db/transaction.ts';
import { eraseRows } from '../../src/people/erasure/rows.ts';
import { makeContact, makeOrganization, makeResponse, makeSurvey } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';
import { untilLockWaits } from '../support/probe/locks.ts';

const { db } = await testDatabase();
const key = 'ada@people.test';
const said = `ask ${key}`;

type Place = { org_id: string; survey_id: string };

async function organization(): Promise<Place> {
  const org_id = await makeOrganization(db);
  return { org_id, survey_id: await makeSurvey(db, org_id) };
}

const erase = ({ org_id }: Place, before: Date | null) =>
  inTransaction(db, async (tx) => {
    const copies = { answers: [], messages: [] };
    return await eraseRows(tx, org_id, { key, hash: 'x', scores: 'kept', copies, before });
  });

/** What others write of a person, with its time. */
const texts: Record<string, (of: Place, created_at: Date) => Promise<unknown>> = {
  'the name of another contact': (of, created_at) =>
    makeContact(db, of, { email: 'bob@other.test', name: said, created_at }),
  'a property of another contact': (of, created_at) =>
    makeContact(db, of, { email: 'cyd@other.test', properties: db.json({ said }), created_at }),
  'a comment': (of, created_at) => makeResponse(db, of, { comment: said, created_at }),
  'a note': async ({ org_id, survey_id }, created_at) => {
    const response_id = await makeResponse(db, { org_id, survey_id });
    const note = { org_id, response_id, text: said, author: 'Bo', author_kind: 'member' };
    await db`insert into response_notes ${db({ ...note, created_at })}`;
  },
};

const at = new Date('2026-03-01T12:00:00Z');
const moments: [when: string, created: Date, before: Date | null, hidden: boolean][] = [
  ['earlier', new Date(at.getTime() - 1), at, true],
  ['at that time', at, at, false],
  ['later', new Date(at.getTime() + 1), at, false],
  ['at any time, and everything is erased', at, null, true],
];

for (const [where, put] of Object.entries(texts)) {
  for (const [when, created, before, isHidden] of moments) {
    test(`an address in ${where} that was written ${when} ${isHidden ? 'is hidden' : 'stays'}`, async () => {
      const of = await organization();
      await put(of, created);
      await erase(of, before);
      const [row] = await db<{ all: string }[]>`
        select concat((select string_agg(concat(name, properties), '') from contacts where org_id = ${of.org_id}),
                      (select string_agg(comment, '') from responses where org_id = ${of.org_id}),
                      (select string_agg(text, '') from response_notes where org_id = ${of.org_id})) as all`;
      assert.equal(row!.all.includes(key), !isHidden);
      assert.equal(row!.all.includes('ask [email]'), isHidden);
    });
  }
}

/** What is a person's own goes whole. */
const own: Record<string, (of: Place, created_at: Date) => Promise<unknown>> = {
  'the contact': (of, created_at) => makeContact(db, of, { email: key, created_at }),
  'the suppression': ({ org_id }, created_at) =>
    db`insert into suppressions ${db({ org_id, email: key, kind: 'unsubscribed', created_at })}`,
};

for (const [what, put] of Object.entries(own)) {
  for (const [when, created, before, isErased] of moments) {
    test(`${what} of an address that was added ${when} ${isErased ? 'is erased' : 'stays'}`, async () => {
      const of = await organization();
      await put(of, created);
      await erase(of, before);
      const left = await db`
        select email from contacts where org_id = ${of.org_id}
        union all
        select email from suppressions where org_id = ${of.org_id}`;
      assert.deepEqual([...left], isErased ? [] : [{ email: key }]);
    });
  }
}

test('an erasure locks the contacts that it changes before any response', async () => {
  const of = await organization();
  const contact_id = await makeContact(db, of, { email: key });
  const response = await makeResponse(db, of, { contact_id, comment: 'slow' });
  const naming = await makeContact(db, of, { email: 'bob@other.test', name: said });
  let erasing: Promise<unknown> | undefined;
  await db.begin(async (tx) => {
    await tx`select from contacts where id = ${naming} for update`;
    erasing = erase(of, null);
    await untilLockWaits(db);
    // Were the response locked already, each would wait for the other.
    await tx`select from responses where id = ${response} for update nowait`;
  });
  await erasing;
});
