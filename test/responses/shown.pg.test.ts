import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { findChoices, findOrigin, listOthers } from '../../src/responses/screens/paths.ts';
import { makeContact, makeOrganization, makeResponse, makeSurvey } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();

/** So that what is sorted by id is not in the order of its making. */
const idsDescending = (many: number) =>
  Array.from({ length: many }, () => randomUUID())
    .sort()
    .reverse();

test('filters offer surveys and members by name in lower case, then by id, and tags by name as it is spelled', async () => {
  const [org, other] = [await makeOrganization(db), await makeOrganization(db)];
  const names = ['b', 'a', 'B', 'a', 'C'];
  const ids = idsDescending(names.length);
  for (const [n, name] of names.entries()) {
    await makeSurvey(db, org, { id: ids[n], name });
    await makeSurvey(db, other, { name });
    for (const of of [org, other]) {
      const [member] = await db<{ id: string }[]>`
        insert into members (id, email, name)
        values (${of === org ? ids[n]! : randomUUID()}, ${`${n}@${of}.test`}, ${name}) returning id`;
      await db`insert into memberships (org_id, member_id, role) values (${of}, ${member!.id}, 'viewer')`;
    }
  }
  for (const name of ['b', 'a', 'B', 'C']) {
    await db`insert into tags ${db([org, other].map((org_id) => ({ org_id, name, color: '#ffffff' })))}`;
  }

  const { surveys, tags, members } = await findChoices(db, org, null);
  const [b, a, upperB, secondA, c] = ids;
  assert.deepEqual(
    surveys.map(({ id }) => id),
    [secondA, a, upperB, b, c],
  );
  assert.deepEqual(
    members.map(({ email }) => email.slice(0, 1)),
    ['3', '1', '2', '0', '4'],
  );
  assert.deepEqual(
    tags.map(({ name }) => name),
    ['a', 'B', 'b', 'C'],
  );
});

test('filters offer the hundred newest surveys, and with them the one that is chosen', async () => {
  const org = await makeOrganization(db);
  const [first, second, newer] = idsDescending(3) as [string, string, string];
  const at = '2026-01-01T00:00Z';
  await makeSurvey(db, org, { id: first, name: 'first', created_at: at });
  await makeSurvey(db, org, { id: second, name: 'second', created_at: at });
  await makeSurvey(db, org, { id: newer, name: 'newer', created_at: '2026-01-02T00:00Z' });
  await db`
    insert into surveys (org_id, name, question_text, from_name, from_email, reply_to, share_id)
    select ${org}, 'new ' || n, 'How?', 'Ann', 'a@b.test', 'a@b.test', gen_random_uuid() from generate_series(1, 98) n`;
  const offered = async (orgId: string, chosen: string | null) => {
    const { surveys } = await findChoices(db, orgId, chosen);
    const ids = surveys.map(({ id }) => id);
    return { many: ids.length, old: [first, second, newer].filter((id) => ids.includes(id)) };
  };
  assert.deepEqual(await offered(org, null), { many: 100, old: [first, newer] });
  assert.deepEqual(await offered(org, second), { many: 101, old: [first, second, newer] });
  assert.deepEqual(await offered(org, newer), { many: 100, old: [first, newer] });
  assert.deepEqual(await offered(await makeOrganization(db), second), { many: 0, old: [] });
});

test('what is said of where a response came from is that of its own organization', async () => {
  const org = await makeOrganization(db, { ai_enabled: true });
  const survey_id = await makeSurvey(db, org, { question_text: 'How was it?' });
  const of = { org_id: org, survey_id };
  const contact_id = await makeContact(db, of);
  const ofContact = { contact_id, source: 'link' };
  const id = await makeResponse(db, of, { ...ofContact, held_reason: 'hidden_link' });
  const shared = await makeResponse(db, of, { source: 'share' });
  const at = '2026-03-04 05:06:07.123456+00';
  await db`update responses set created_at = ${at}::text::timestamptz where org_id = ${org}`;
  await db`
    insert into analyses (org_id, response_id, sentiment, provider) values (${org}, ${shared}, 'positive', 'builtin')`;

  const same = { at, analyzed: true, question_text: 'How was it?' };
  assert.deepEqual(
    { ...(await findOrigin(db, org, id)) },
    { ...same, source: 'link', held_reason: 'hidden_link', provider: null, contact_id },
  );
  assert.deepEqual(
    { ...(await findOrigin(db, org, shared)) },
    { ...same, source: 'share', held_reason: null, provider: 'builtin', contact_id: null },
  );
  assert.equal(await findOrigin(db, await makeOrganization(db), id), undefined);
});

test('others of the same address are the twenty newest of its organization, over all surveys', async () => {
  const [org, elsewhere] = [await makeOrganization(db), await makeOrganization(db)];
  const of = async (org_id: string, email: string) => {
    const survey = { org_id, survey_id: await makeSurvey(db, org_id) };
    return { survey, contactId: await makeContact(db, survey, { email }) };
  };
  const mine = await of(org, 'ann@people.test');
  const upper = await of(org, 'Ann@People.test');
  const stranger = await of(org, 'ben@people.test');
  const foreign = await of(elsewhere, 'ann@people.test');
  const respond = ({ survey, contactId }: typeof mine, over: Record<string, unknown>) =>
    makeResponse(db, survey, { contact_id: contactId, source: 'import', ...over });

  const id = await respond(mine, { created_at: '2026-01-01' });
  for (const none of [stranger, foreign]) await respond(none, { created_at: '2026-06-01' });
  const twins = idsDescending(2);
  for (const twin of twins) await respond(upper, { id: twin, created_at: '2026-05-01' });
  const newest = await respond(mine, { created_at: '2026-05-02', comment: 'New', score: 3 });
  const rest: string[] = [];
  for (let day = 30; day > 12; day--) {
    rest.push(await respond(upper, { created_at: `2026-04-${day}` }));
  }

  const others = await listOthers(db, org, { id, contactId: mine.contactId });
  assert.deepEqual(
    others.map((other) => other.id),
    [newest, ...twins, ...rest.slice(0, 17)],
  );
  const { id: _, created_at, ...first } = others[0]!;
  assert.deepEqual(first, {
    survey_name: 'Onboarding',
    type: 'nps',
    score: 3,
    category: 'promoter',
    comment: 'New',
  });
  assert.equal((await listOthers(db, elsewhere, { id, contactId: mine.contactId })).length, 0);
});
