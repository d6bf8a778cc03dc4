import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connect } from '../../src/lib/db/db.ts';
import { visitPersonalLink } from '../../src/responses/answer.queries.ts';
import { makeOrganization, makeSurvey } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db, url } = await testDatabase();
const orgId = await makeOrganization(db);
const surveyId = await makeSurvey(db, orgId);
await db`
  insert into contacts (org_id, survey_id, email, token)
  select ${orgId}, ${surveyId}, n || '@people.test', 'token-' || n
  from generate_series(1, 5000) n`;

test('a link has its counted answer and its newest mail', async () => {
  const visit = { kind: 'view', method: 'GET', score: null } as const;
  const of = async () => {
    const link = await visitPersonalLink(db, 'token-4600', visit);
    return [link?.answered?.score ?? null, link?.mail_traceparent ?? null];
  };
  const respond = (source: string, score: number, held: string | null) => db`
    insert into responses (org_id, survey_id, contact_id, source, score, category, held_reason)
    select org_id, survey_id, id, ${source}, ${score}, 'passive', ${held}
    from contacts where token = 'token-4600'`;
  const mail = (traceparent: string, ago: string, token = 'token-4600') => db`
    insert into mails (org_id, survey_id, contact_id, request_id, email, month, status, blocks_resend, traceparent, claimed_at)
    select org_id, survey_id, id, gen_random_uuid(), email, '2026-05-01', 'failed', false, ${traceparent}, now() - ${ago}::interval
    from contacts where token = ${token}`;
  await mail('of another contact', '0 days', 'token-4601');
  assert.deepEqual(await of(), [null, null]);
  await respond('import', 3, null);
  await mail('middle', '2 days');
  assert.deepEqual(await of(), [null, 'middle']);
  await respond('link', 5, 'trap');
  await mail('oldest', '3 days');
  assert.deepEqual(await of(), [null, 'middle']);
  await db`update responses set held_reason = null where source = 'link' and score = 5`;
  await mail('newest', '1 day');
  assert.deepEqual(await of(), [5, 'newest']);
});

test('a link finds its response by contact with a plan from an empty table', async () => {
  const own = connect(url, { connections: 1 });
  const visit = { kind: 'view', method: 'GET', score: 9 } as const;
  // Postgres keeps a plan after five calls.
  for (let n = 1; n <= 7; n++) await visitPersonalLink(own, `token-${n}`, visit);
  const [prepared] = await own<{ name: string }[]>`
    select name from pg_prepared_statements where statement like ${'%insert into link_visits%'}`;
  const rows = await own.unsafe<{ 'QUERY PLAN': string }[]>(
    `explain execute "${prepared!.name}" ('token-1', 'view', 'GET', 9)`,
  );
  await own.end();
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
  assert.match(plan, /on responses.*\n\s+Index Cond: \(contact_id = c\.id\)/);
  assert.doesNotMatch(plan, /responses_newest_first|Seq Scan on (responses|link_visits)/);
});

test('a link lists the newest 60 visits of the last minute', async () => {
  const visit = { kind: 'view', method: 'GET', score: 9 } as const;
  await db.begin(async (tx) => {
    await tx`delete from link_visits`;
    // now() stays the same in a transaction. A visit of exactly a minute ago is too old.
    await tx`
      insert into link_visits (org_id, survey_id, contact_id, kind, method, score, visited_at)
      select org_id, survey_id, c.id, 'view', 'GET', v.score, now() - v.ago
      from contacts c
      join (values ('token-4100', 1, interval '1 minute'), ('token-4100', 2, interval '59.999 seconds'),
                   ('token-4100', 3, interval '0'), ('token-4101', 4, interval '1 second')) v (token, score, ago) using (token)`;
    const link = await visitPersonalLink(tx, 'token-4100', visit);
    const known = link!.visits.map(({ score, agoMs }) => [score, agoMs]);
    assert.deepEqual(known.toSorted(), [
      [2, 59_999],
      [3, 0],
    ]);
    await tx`
      insert into link_visits (org_id, survey_id, contact_id, kind, method, visited_at)
      select org_id, survey_id, id, 'view', 'GET', now() - n * interval '10 milliseconds'
      from contacts, generate_series(1, 70) n where token = 'token-4102'`;
    const many = await visitPersonalLink(tx, 'token-4102', visit);
    assert.equal(many!.visits.length, 60);
    assert.equal(Math.max(...many!.visits.map(({ agoMs }) => agoMs)), 600);
  });
});
