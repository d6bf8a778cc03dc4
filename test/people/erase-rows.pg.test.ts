import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inTransaction, type Sql } from '../../src/lib/db/db.ts';
import { eraseRows } from '../../src/people/erase.ts';
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

/** Texts of other people that contain the address. */
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
  'a reply': async ({ org_id, survey_id }, created_at) => {
    const response_id = await makeResponse(db, { org_id, survey_id });
    const reply = { org_id, response_id, text: said, author: 'Bo', author_kind: 'member' };
    await db`insert into replies ${db({ ...reply, created_at })}`;
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
    test(`address in ${where} written ${when} ${isHidden ? 'is redacted' : 'stays'}`, async () => {
      const of = await organization();
      await put(of, created);
      await erase(of, before);
      const [row] = await db<{ all: string }[]>`
        select concat((select string_agg(concat(name, properties), '') from contacts where org_id = ${of.org_id}),
                      (select string_agg(comment, '') from responses where org_id = ${of.org_id}),
                      (select string_agg(text, '') from replies where org_id = ${of.org_id}),
                      (select string_agg(text, '') from response_notes where org_id = ${of.org_id})) as all`;
      assert.equal(row!.all.includes(key), !isHidden);
      assert.equal(row!.all.includes('ask [email]'), isHidden);
    });
  }
}

/** Rows of the person, which are deleted. */
const own: Record<string, (of: Place, created_at: Date) => Promise<unknown>> = {
  'the contact': (of, created_at) => makeContact(db, of, { email: key, created_at }),
  'the suppression': ({ org_id }, created_at) =>
    db`insert into suppressions ${db({ org_id, email: key, kind: 'unsubscribed', created_at })}`,
};

for (const [what, put] of Object.entries(own)) {
  for (const [when, created, before, isErased] of moments) {
    test(`${what} of an address added ${when} ${isErased ? 'is erased' : 'stays'}`, async () => {
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

/** Locks of an erasure in the global order. Each statement fails if the lock is taken. */
const locks: [what: string, take: (tx: Sql, of: Place) => Promise<unknown>][] = [
  [
    'the months',
    (tx, { org_id }) => tx`select from mail_usage where org_id = ${org_id} for update nowait`,
  ],
  ['what adds contacts', (tx, { org_id }) => tx`select hold_off_erasures(${org_id})`],
  [
    'the surveys',
    (tx, { survey_id }) => tx`select from surveys where id = ${survey_id} for update nowait`,
  ],
  [
    'the mails',
    (tx, { org_id }) => tx`select from mails where org_id = ${org_id} for update nowait`,
  ],
  [
    'the contacts that name the person',
    (tx, { org_id }) =>
      tx`select from contacts where org_id = ${org_id} and email <> ${key} for update nowait`,
  ],
  [
    'the responses',
    (tx, { org_id }) => tx`select from responses where org_id = ${org_id} for update nowait`,
  ],
];

for (const [place, [what, take]] of locks.slice(0, -1).entries()) {
  test(`erasure that waits for ${what} holds no later lock`, async () => {
    const of = await organization();
    const contact_id = await makeContact(db, of, { email: key });
    await makeResponse(db, of, { contact_id, comment: 'slow' });
    await makeContact(db, of, { email: 'bob@other.test', name: said });
    await db`insert into mail_usage ${db({ org_id: of.org_id, month: '2026-03-01', used: 1 })}`;
    const mail = { ...of, contact_id, request_id: contact_id, email: key, month: '2026-03-01' };
    await db`insert into mails ${db({ ...mail, status: 'sent' })}`;
    let erasing: Promise<unknown> | undefined;
    await db.begin(async (tx) => {
      await take(tx, of);
      erasing = erase(of, null);
      await untilLockWaits(db);
      // A later lock that is held already would cause a deadlock.
      for (const [, later] of locks.slice(place + 1)) await later(tx, of);
    });
    await erasing;
  });
}
