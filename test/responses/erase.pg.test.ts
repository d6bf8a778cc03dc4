import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { json, type Sql } from '../../src/lib/db/db.ts';
import { lockOldComments, lockResponsesOf } from '../../src/responses/erase.ts';
import { lockResponses } from '../../src/responses/follow-up.ts';
import { makeContact, makeOrganization, makeResponse, makeSurvey } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';
import { untilLockWaits } from '../support/probe/locks.ts';

/** Locks of erasing and of follow-up: contacts, start time and order. */
const { db } = await testDatabase();
const key = 'ada@people.test';
const before = new Date('2026-03-01T00:00Z');
const days = 30;

async function scene(sql: Sql) {
  const org_id = await makeOrganization(sql);
  const of = { org_id, survey_id: await makeSurvey(sql, org_id) };
  const contacts = [await makeContact(sql, of), await makeContact(sql, of)] as const;
  const respond = (over: Record<string, unknown>) => makeResponse(sql, of, over);
  return { org: org_id, contacts, respond };
}

const idsOf = (rows: readonly { id: string }[]) => rows.map(({ id }) => id).toSorted();

test('finds responses of contacts, and anonymous ones with the address', async () => {
  const [own, other] = [await scene(db), await scene(db)];
  const embedded = { source: 'share', properties: json(db, { by: key }) };
  const [mine, stranger] = own.contacts;
  const late = await own.respond({ contact_id: mine, created_at: '2026-05-01' });
  await own.respond({ contact_id: stranger });
  await own.respond({ source: 'share', properties: json(db, { by: `x${key}` }) });
  const early = await own.respond({ ...embedded, created_at: '2026-02-28T23:59:59.999Z' });
  const then = await own.respond({ ...embedded, created_at: before });
  await other.respond({ ...embedded, contact_id: null, created_at: '2026-01-01' });
  await other.respond({ contact_id: other.contacts[0] });

  const contactIds = [mine, other.contacts[0]];
  const found = async (given: Date | null) =>
    idsOf(await lockResponsesOf(db, own.org, { contactIds, key, before: given }));
  assert.deepEqual(await found(before), [late, early].toSorted());
  assert.deepEqual(await found(null), [late, early, then].toSorted());
  assert.deepEqual(idsOf(await lockResponsesOf(db, own.org, { contactIds })), [late]);
  assert.deepEqual(idsOf(await lockResponsesOf(db, own.org, { contactIds: [randomUUID()] })), []);
});

test('finds old comments of one organization, on hold or not', async () => {
  await db.begin(async (tx) => {
    const [own, other] = [await scene(tx), await scene(tx)];
    const write = async (ago: string, over: Record<string, unknown> = {}) => {
      const ids = await Promise.all(
        [own, other].map(({ respond }) => respond({ comment: 'Fine', ...over })),
      );
      await tx`
        update responses
        set created_at = now() - ${ago}::interval - case when id = ${ids[1]!} then interval '9 days' else '0' end
        where id = any (${ids}::uuid[])`;
      return ids[0]!;
    };
    const held = { held_reason: 'trap' };
    const old = [await write('30 days 1 microsecond'), await write('31 days', held)];
    old.push(await write('32 days'), await write('33 days', held));
    await write('30 days');
    await write('30 days', held);
    await write('34 days', { comment: null });
    const found = async (atMost: number) =>
      idsOf(await lockOldComments(tx, own.org, { days, atMost }));
    assert.deepEqual(await found(9), old.toSorted());
    for (const atMost of [1, 2, 3]) assert.equal((await found(atMost)).length, atMost);
  });
});

type Locked = { org: string; contactIds: string[]; ids: string[] };

/** Statements that lock the responses of a scene. Two of them must use the same order. */
const locking: Record<string, (locked: Locked) => Promise<unknown>> = {
  'erasing a person': ({ org, contactIds }) =>
    lockResponsesOf(db, org, { contactIds, key, before: null }),
  'erasing contacts': ({ org, contactIds }) => lockResponsesOf(db, org, { contactIds }),
  'emptying old comments': ({ org }) => lockOldComments(db, org, { days, atMost: 9 }),
  tagging: ({ org, ids }) => lockResponses(db, org, ids),
};

for (const [name, act] of Object.entries(locking)) {
  test(`${name} locks responses in the order of ids`, async () => {
    const { org, contacts, respond } = await scene(db);
    const [first, last] = [randomUUID(), randomUUID()].toSorted() as [string, string];
    // Ids are in reverse order of creation, of `created_at` and of the arguments.
    for (const [n, id] of [last, first].entries()) {
      const created_at = new Date(Date.UTC(2020, 0, 1 + n));
      await respond({ id, contact_id: contacts[n], source: 'import', comment: 'Fine', created_at });
    }
    let acting: Promise<unknown> | undefined;
    await db.begin(async (tx) => {
      await tx`select from responses where id = ${first} for update`;
      acting = act({ org, contactIds: [...contacts], ids: [last, first] });
      await untilLockWaits(db);
      // If the other row were locked already, the two would deadlock.
      await tx`select from responses where id = ${last} for update nowait`;
    });
    await acting;
  });
}
