import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import type { Sql } from '../../src/lib/db/db.ts';
import { listHistory } from '../../src/people/timeline.ts';
import { makeContact, makeOrganization, makeResponse, makeSurvey } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();
const ada = 'Ada@people.test';
const dayMs = 86_400_000;
const minutesAgo = (n: number) => new Date(Date.now() - n * 60_000);

/** A contact with visits, a mail and an answer at different times. */
async function addPerson(of: { org_id: string; survey_id: string }, email: string, from: number) {
  const contact_id = await makeContact(db, of, { email, created_at: minutesAgo(from) });
  const visit = { ...of, contact_id, kind: 'view', method: 'GET' };
  await db`insert into link_visits ${db(
    [from - 3, from - 4, from - 5].map((at) => ({ ...visit, visited_at: minutesAgo(at) })),
  )}`;
  await db`insert into mails ${db({
    ...of,
    contact_id,
    email,
    request_id: randomUUID(),
    month: new Date(),
    status: 'sent',
    claimed_at: minutesAgo(from - 1),
    finished_at: minutesAgo(from - 2),
  })}`;
  const score = { contact_id, score: from % 10, created_at: minutesAgo(from - 6) };
  await makeResponse(db, of, score);
  return contact_id;
}

const shown = (rows: Awaited<ReturnType<typeof listHistory>>) =>
  rows.map(({ at, what, survey_name, reason }) => [
    Math.round((Date.now() - at.getTime()) / 60_000),
    what,
    survey_name,
    reason?.replace(/last on .*/, '…') ?? null,
  ]);

test('history has the events of one address on all surveys', async () => {
  const [org_id, otherOrg] = [await makeOrganization(db), await makeOrganization(db)];
  const named = async (org_id: string, name: string) => ({
    org_id,
    survey_id: await makeSurvey(db, org_id, { name }),
  });
  const [spring, autumn] = [await named(org_id, 'Spring'), await named(org_id, 'Autumn')];
  await addPerson(spring, ada, 90);
  await addPerson(autumn, ada, 50);
  await addPerson(spring, 'bob@people.test', 85);
  await addPerson(await named(otherOrg, 'Elsewhere'), ada, 80);
  const stepsOf = (name: string, from: number) => [
    [from, 'added', name, null],
    [from - 2, 'sent', name, null],
    [from - 3, 'opened', name, '3 times, …'],
    [from - 6, 'answered', name, `score ${from % 10}`],
  ];
  assert.deepEqual(shown(await listHistory(db, org_id, ada)), [
    ...stepsOf('Spring', 90),
    ...stepsOf('Autumn', 50),
  ]);
});

/** Adds a visit or blocked mail. Returns true if the history shows it. */
const kept: Record<string, (sql: Sql, of: object, days: number) => Promise<unknown>> = {
  opened: (sql, of, days) => sql`
    insert into link_visits ${sql({
      ...of,
      kind: 'view',
      method: 'GET',
      visited_at: new Date(Date.now() - days * dayMs),
    })}`,
  blocked: (sql, { org_id, survey_id }: { org_id?: string; survey_id?: string }, days) => sql`
    insert into blocked_mails (org_id, survey_id, email, reason_code, reason, blocked_on)
    select ${org_id!}, ${survey_id!}, 'ada@people.test', 'bounced', 'why',
           (now() at time zone 'UTC')::date - ${Math.ceil(days)}::int`,
};
for (const [what, add] of Object.entries(kept)) {
  test(`history shows what was ${what} for ninety days`, async () => {
    const undo = new Error('undone');
    for (const [days, isShown] of [
      [89.99, true],
      [90.01, false],
    ] as const) {
      const looked = db.begin(async (tx) => {
        const org_id = await makeOrganization(tx);
        const of = { org_id, survey_id: await makeSurvey(tx, org_id) };
        await add(tx, { ...of, contact_id: await makeContact(tx, of, { email: ada }) }, days);
        const found = (await listHistory(tx, org_id, ada)).filter((step) => step.what === what);
        assert.equal(found.length, isShown ? 1 : 0, `${days} days`);
        throw undo;
      });
      await assert.rejects(looked, undo);
    }
  });
}
