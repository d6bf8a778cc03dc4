import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { commandWriter } from '../../src/audit/acts.ts';
import { inTransaction, type Sql } from '../../src/lib/db/db.ts';
import { importBatch, insertWaitingImported } from '../../src/responses/import.ts';
import { releaseResponse } from '../../src/responses/release.ts';
import {
  claimWaiting,
  endWaiting,
  hasWaiting,
  insertWaitingSince,
  listOrganizationsWaiting,
  postponeWaiting,
  releaseWaiting,
} from '../../src/responses/waiting-analyses.ts';
import { makePool } from '../support/make/deliveries.ts';
import { makeOrganization, makeResponse, makeSurvey } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';
import { untilLockWaits } from '../support/probe/locks.ts';

/**
 * Statements on waiting comments, for two organizations whose responses have the same ids. Each test is one
 * transaction, in which now() stays the same.
 */
const { db } = await testDatabase();
const inOneInstant = (name: string, act: (tx: Sql) => Promise<void>) =>
  test(name, async () => {
    await db.begin(async (tx) => {
      await tx`delete from waiting_analyses`;
      await act(tx);
    });
  });

type Waiting = {
  dueIn?: string;
  isHistory?: boolean;
  claimedBy?: string | null;
  askedAt?: string | null;
};

/** Two organizations in order of id, with waiting comments of the same ids in this order. */
async function makeWaiting(sql: Sql, given: readonly Waiting[]) {
  const ids: string[] = given.map(() => randomUUID());
  const orgs = [await makeOrganization(sql), await makeOrganization(sql)].toSorted();
  for (const org_id of orgs) await addWaiting(sql, org_id, { ids, given });
  return { ids, orgs: orgs as [string, string] };
}

type Added = { ids: readonly string[]; given: readonly Waiting[] };

async function addWaiting(sql: Sql, org_id: string, { ids, given }: Added) {
  const survey_id = await makeSurvey(sql, org_id);
  for (const [
    n,
    { dueIn = '-1 minute', isHistory = false, claimedBy = null, askedAt = null },
  ] of given.entries()) {
    const of = { org_id, survey_id, id: ids[n]!, comment: 'Fine', score: 9, category: 'promoter' };
    await sql`insert into responses ${sql(of)}`;
    await sql`
      insert into waiting_analyses (org_id, response_id, is_history, due_at, claimed_by, asked_at)
      values (${org_id}, ${ids[n]!}, ${isHistory}, now() + ${dueIn}::interval, ${claimedBy}, ${askedAt}::text::timestamptz)`;
  }
}

const rowsOf = async (sql: Sql, orgId: string) =>
  new Map(
    (
      await sql<{ response_id: string; claimed_by: string | null; tries: number; due: number }[]>`
        select response_id, claimed_by, tries, extract(epoch from due_at - now())::float8 as due
        from waiting_analyses where org_id = ${orgId} order by response_id`
    ).map(({ response_id, ...row }) => [response_id, row]),
  );

type Change = { orgs: readonly [string, string]; id: string; act: () => Promise<unknown> };

/** The change that an act makes to one comment of the first organization. Other comments must not change. */
async function changeOf(sql: Sql, { orgs: [ours, theirs], id, act }: Change) {
  const [before, others] = [await rowsOf(sql, ours), await rowsOf(sql, theirs)];
  await act();
  const after = await rowsOf(sql, ours);
  assert.deepEqual(await rowsOf(sql, theirs), others);
  const [was, is] = [before.get(id), after.get(id)];
  for (const rows of [before, after]) rows.delete(id);
  assert.deepEqual(after, before);
  assert.notDeepEqual(is, was);
  return is;
}

inOneInstant('due comments without a live owner are claimed, oldest new ones first', async (db) => {
  const [own, living] = [await makePool(db), await makePool(db)];
  const { ids, orgs } = await makeWaiting(db, [
    { dueIn: '-3 hours', isHistory: true },
    { dueIn: '-1 minute' },
    { dueIn: '-2 minutes' },
    { dueIn: '-9 hours', isHistory: true, claimedBy: 'pool-of-the-dead' },
    { dueIn: '-1 hour', claimedBy: living },
    { dueIn: '1 hour' },
    { dueIn: '1 hour', isHistory: true },
    { dueIn: '-30 seconds', claimedBy: own },
    { dueIn: '-20 seconds', claimedBy: own },
    { dueIn: '0 seconds' },
    { dueIn: '0.001 seconds' },
  ]);
  for (const orgId of orgs) {
    const claim = async (atMost: number, known: string[]) =>
      (await claimWaiting(db, orgId, { by: own, atMost, known })).map(({ response_id, org_id }) => {
        assert.equal(org_id, orgId);
        return ids.indexOf(response_id);
      });
    const known = [ids[8]!];
    assert.deepEqual(await claim(3, known), [2, 1, 7]);
    known.push(...[1, 2, 7].map((n) => ids[n]!));
    assert.deepEqual(await claim(2, known), [9, 3]);
    known.push(ids[3]!, ids[9]!);
    assert.deepEqual(await claim(9, known), [0]);
    const owners = await rowsOf(db, orgId);
    const owned = ids.flatMap((id, n) => (owners.get(id)?.claimed_by === own ? [n] : []));
    assert.deepEqual(owned, [0, 1, 2, 3, 7, 8, 9]);
  }
});

inOneInstant('a claimed comment has all fields of its analysis', async (db) => {
  const { orgs } = await makeWaiting(db, [{ askedAt: '2026-05-01T10:00:00.123456Z' }, {}]);
  await db`update waiting_analyses set tries = 3, traceparent = '00-trace' where asked_at is not null`;
  for (const orgId of orgs) {
    const claimed = await claimWaiting(db, orgId, { by: 'pool-of-own', atMost: 9, known: [] });
    const rows = await db`
      select response_id as id, org_id, response_id, tries, asked_at::text as asked_at, due_at, traceparent, created_at
      from waiting_analyses where org_id = ${orgId} and claimed_by = 'pool-of-own'`;
    const inOrder = (some: readonly object[]) => some.map((row) => JSON.stringify(row)).toSorted();
    assert.deepEqual(inOrder(claimed), inOrder(rows));
    assert.equal(
      claimed.filter(({ asked_at, tries }) => asked_at !== null && tries === 3).length,
      1,
    );
  }
});

inOneInstant('organizations with due comments are listed, except claimed ones', async (db) => {
  const [own, living] = [await makePool(db), await makePool(db)];
  const cases: [said: string, waiting: Waiting, isListed: boolean][] = [
    ['new and due', {}, true],
    ['history and due', { isHistory: true }, true],
    ['due now', { dueIn: '0 seconds' }, true],
    ['new and not due', { dueIn: '0.001 seconds' }, false],
    ['history and not due', { dueIn: '1 minute', isHistory: true }, false],
    ['of a dead process', { claimedBy: 'pool-of-the-dead' }, true],
    ['of a living process', { claimedBy: living }, false],
    ['its own for two seconds', { claimedBy: own, dueIn: '-2 seconds' }, false],
    ['its own for longer', { claimedBy: own, dueIn: '-2.001 seconds' }, true],
  ];
  for (const [said, waiting, isListed] of cases) {
    await db`delete from waiting_analyses`;
    // A live process has claimed a comment of each organization. The second one also has the case under test.
    const { orgs } = await makeWaiting(db, [{ claimedBy: living }]);
    await addWaiting(db, orgs[1], { ids: [randomUUID()], given: [waiting] });
    const list = await listOrganizationsWaiting(db, { after: null, by: own, atMost: 9 });
    assert.deepEqual(list, isListed ? [orgs[1]] : [], said);
    const [look] = await db<{ found: boolean }[]>`select ${hasWaiting(db, own)} as found`;
    assert.equal(look!.found, isListed, said);
  }
});

inOneInstant('releasing, postponing and ending change only their comment', async (db) => {
  const by = await makePool(db);
  const askedAt = '2026-05-02 10:00:00.123456+00';
  const { orgs, ids } = await makeWaiting(db, [
    { claimedBy: by },
    { claimedBy: by },
    { claimedBy: by },
    { claimedBy: by, askedAt },
  ]);
  const [orgId] = orgs;
  const [first, second, third, asked] = ids;
  const released = await changeOf(db, {
    orgs,
    id: first!,
    act: () => releaseWaiting(db, orgId, [first!], by),
  });
  assert.equal(released?.claimed_by, null);
  await releaseWaiting(db, orgId, [second!], 'another process');
  assert.equal((await rowsOf(db, orgId)).get(second!)?.claimed_by, by);

  const target = (responseId: string, at: string | null) => ({ orgId, responseId, askedAt: at });
  const postponed = await changeOf(db, {
    orgs,
    id: second!,
    act: () => postponeWaiting(db, target(second!, null), 7 * 60_000),
  });
  assert.deepEqual(postponed, { claimed_by: null, tries: 1, due: 7 * 60 });
  const ended = await changeOf(db, {
    orgs,
    id: third!,
    act: () => endWaiting(db, target(third!, null)),
  });
  assert.equal(ended, undefined);

  for (const at of [null, '2026-05-02 10:00:00.123457+00']) {
    await postponeWaiting(db, target(asked!, at), 60_000);
    await endWaiting(db, target(asked!, at));
  }
  assert.equal((await rowsOf(db, orgId)).get(asked!)?.tries, 0);
  await changeOf(db, {
    orgs,
    id: asked!,
    act: () => postponeWaiting(db, target(asked!, askedAt), 60_000),
  });
  await changeOf(db, { orgs, id: asked!, act: () => endWaiting(db, target(asked!, askedAt)) });
});

inOneInstant('counted comments since a time are queued again in one organization', async (db) => {
  const since = '2026-05-02T10:00:00Z';
  const ids = Array.from({ length: 5 }, () => randomUUID());
  const given = [
    { created_at: since, comment: 'At that time' },
    { created_at: '2026-05-02T10:00:01Z', comment: 'After it' },
    { created_at: '2026-05-02T09:59:59.999Z', comment: 'Before it' },
    { created_at: '2026-05-03T00:00:00Z', comment: null },
    { created_at: '2026-05-03T00:00:00Z', comment: 'On hold', held_reason: 'trap' },
  ];
  const orgs = [await makeOrganization(db), await makeOrganization(db)] as const;
  for (const org_id of orgs) {
    const of = {
      org_id,
      survey_id: await makeSurvey(db, org_id),
      score: 9,
      category: 'promoter',
    };
    for (const [n, row] of given.entries()) {
      await db`insert into responses ${db({ held_reason: null, ...of, ...row, id: ids[n]! })}`;
    }
    const due_at = new Date('2990-01-01');
    const postponed = { org_id, response_id: ids[0]!, tries: 4, claimed_by: 'pool', due_at };
    await db`insert into waiting_analyses ${db(postponed)}`;
  }
  const { answers, asked_at } = await insertWaitingSince(db, orgs[0], new Date(since));
  assert.equal(answers, 2);
  const waiting = await db`
    select org_id, response_id, is_history, tries, claimed_by, asked_at::text as asked_at, due_at <= now() as due
    from waiting_analyses order by is_history, array_position(${ids}::uuid[], response_id), asked_at nulls last`;
  const row = { is_history: false, tries: 0, claimed_by: null, asked_at, due: true };
  assert.deepEqual(
    [...waiting],
    [
      { ...row, org_id: orgs[0], response_id: ids[0] },
      {
        ...row,
        org_id: orgs[1],
        response_id: ids[0],
        tries: 4,
        claimed_by: 'pool',
        asked_at: null,
        due: false,
      },
      { ...row, org_id: orgs[0], response_id: ids[1], is_history: true },
    ],
  );
});

test('requesting new analyses locks responses in the order of ids', async () => {
  const orgId = await makeOrganization(db);
  const of = { org_id: orgId, survey_id: await makeSurvey(db, orgId) };
  const [first, last] = [randomUUID(), randomUUID()].toSorted() as [string, string];
  const [early, late] = [new Date('2026-05-01'), new Date('2026-05-02')];
  await makeResponse(db, of, { id: last, comment: 'Fine', created_at: early });
  await makeResponse(db, of, { id: first, comment: 'Well', created_at: late });
  let asking: Promise<{ answers: number }> | undefined;
  await db.begin(async (tx) => {
    await tx`select from responses where id = ${first} for update`;
    asking = insertWaitingSince(db, orgId, early);
    await untilLockWaits(db);
    // If the other row were locked already, the two would deadlock.
    await tx`select from responses where id = ${last} for update nowait`;
  });
  assert.equal((await asking!).answers, 2);
});

test('released comments are queued as new, imported ones as history', async () => {
  const orgId = await makeOrganization(db, { ai_enabled: true });
  const writer = commandWriter(orgId);
  const surveyId = await makeSurvey(db, orgId);
  const held = (comment: string | null) =>
    makeResponse(db, { org_id: orgId, survey_id: surveyId }, { comment, held_reason: 'trap' });
  const [commented, silent] = [await held('Fine'), await held(null)];
  for (const id of [commented, silent]) {
    await releaseResponse({ db, excerpt: async (comment) => comment }, writer, id);
  }
  const imported = ['Well', null].map((comment) => ({
    ...{ score: 9, category: 'promoter' as const, comment, created_at: new Date('2024-03-01') },
    ...{ tags: [], note: null, person: null, properties: {}, answers: {}, occurrence: 1 },
  }));
  const by = { ...writer, surveyId, author: 'CSV' };
  await inTransaction(db, (tx) => importBatch(tx, by, imported));
  const waiting = await db`
    select comment, is_history, due_at <= now() as due
    from waiting_analyses w
    join responses r on r.org_id = w.org_id and r.id = w.response_id
    where w.org_id = ${orgId} order by 1`;
  assert.deepEqual(
    [...waiting],
    [
      { comment: 'Fine', is_history: false, due: true },
      { comment: 'Well', is_history: true, due: true },
    ],
  );
});

inOneInstant('imported comments are queued as history while analysis is on', async (db) => {
  const [own, other, without] = [
    await makeOrganization(db, { ai_enabled: true }),
    await makeOrganization(db, { ai_enabled: true }),
    await makeOrganization(db, { ai_enabled: false }),
  ];
  const [commented, silent, earlier] = [randomUUID(), randomUUID(), randomUUID()];
  for (const org_id of [own, other, without]) {
    const of = {
      org_id,
      survey_id: await makeSurvey(db, org_id),
      score: 9,
      category: 'promoter',
    };
    for (const [id, comment] of [
      [commented, 'Fine'],
      [silent, null],
      [earlier, 'Well'],
    ] as const) {
      await db`insert into responses ${db({ ...of, id, comment })}`;
    }
  }
  for (const orgId of [own, without]) await insertWaitingImported(db, orgId, [commented, silent]);
  const waiting = await db`select org_id, response_id, is_history from waiting_analyses`;
  assert.deepEqual([...waiting], [{ org_id: own, response_id: commented, is_history: true }]);
});
