import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { type ClaimRequest, claim, dryRunClaim } from '../../src/sends/claim.ts';
import { readContact } from '../../src/sends/rules.ts';
import { makeContact, makeOrganization, makeSurvey } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();
const [known, fresh, refused, gone] = ['known', 'new', 'refused', 'gone'].map(
  (name) => `${name}@people.test`,
) as [string, string, string, string];

/** A survey with one contact, an unsubscribed address and an erased one. */
async function scene(over: Record<string, unknown> = {}) {
  const orgId = await makeOrganization(db);
  const survey = { orgId, surveyId: await makeSurvey(db, orgId, over) };
  const of = { org_id: orgId, survey_id: survey.surveyId };
  await makeContact(db, of, { email: known, name: 'Ada', properties: { plan: 'pro' } });
  await db`insert into suppressions (org_id, email, kind) values (${orgId}, ${refused}, 'unsubscribed')`;
  await db`
    insert into erasures (org_id, address_hash, scores, counts)
    select id, keyed_hash(address_key, ${gone}), 'deleted', '{}' from organizations where id = ${orgId}`;
  return survey;
}

type Survey = Awaited<ReturnType<typeof scene>>;

const requestOf = (...contacts: unknown[]): ClaimRequest => ({
  requestId: randomUUID(),
  submitted: contacts.map(readContact),
  traceparent: `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01`,
});

const contactsOf = ({ surveyId }: Survey) =>
  db<
    { email: string; name: string | null; properties: unknown; status: string }[]
  >`select email, name, properties, status from contacts where survey_id = ${surveyId} order by email collate "C"`;

const mailsOf = ({ orgId }: Survey) => db`select from mails where org_id = ${orgId}`;

type Standing = { over: Record<string, unknown>; code: string };
const taking: Standing[] = [
  { over: { status: 'draft' }, code: 'survey_draft' },
  {
    over: { status: 'completed', completed_by: 'hand', completed_at: new Date() },
    code: 'survey_closed',
  },
];
for (const { over, code } of taking) {
  test(`survey that is ${code} mails and adds no contact`, async () => {
    const survey = await scene(over);
    await assert.rejects(claim(db, survey, requestOf({ email: fresh })), { kind: 'invalid', code });
    await assert.rejects(dryRunClaim(db, survey, requestOf({ email: fresh }).submitted), { code });
    assert.equal((await contactsOf(survey)).length, 1);
    assert.equal((await mailsOf(survey)).length, 0);
  });
}

const completed = { status: 'completed', completed_by: 'answers', completed_at: new Date() };
const addresses: Record<string, { email: string; status: string }> = {
  'a new contact': { email: fresh, status: 'active' },
  'a new contact that gets no mail': { email: refused, status: 'active' },
  'a contact that it mails first now': { email: known, status: 'active' },
  'a person that was erased': { email: gone, status: 'completed' },
  'no address': { email: 'no-address', status: 'completed' },
};
for (const [who, { email, status }] of Object.entries(addresses)) {
  test(`completed survey is ${status} after a send to ${who}`, async () => {
    const survey = await scene(completed);
    await claim(db, survey, requestOf({ email }));
    const [row] = await db`
      select status, completed_by, completed_at is null as open from surveys where id = ${survey.surveyId}`;
    const open = status === 'active';
    assert.deepEqual({ ...row }, { status, completed_by: open ? null : 'answers', open });
  });
}

test('send stores each address once, but no erased one', async () => {
  const survey = await scene();
  const request = requestOf(
    { email: 'New@People.test', name: 'First', properties: { seats: 3 } },
    { email: fresh, name: 'Second', properties: { seats: 4 } },
    { email: known, properties: { city: 'Kyiv' } },
    { email: refused, name: 'Ruth' },
    { email: gone },
    { email: 'no-address' },
  );
  const { judgements, claimed, contacts } = await claim(db, survey, request);

  assert.deepEqual(
    judgements.map((each) => ('send' in each ? each.send.key : each.reason_code)),
    [fresh, 'repeated', known, 'unsubscribed', 'erased', 'invalid_email'],
  );
  const invalid = judgements.at(-1)!;
  assert.equal('reason' in invalid && invalid.reason, 'invalid or missing email address');
  assert.deepEqual([...claimed].sort(), [known, fresh]);
  assert.deepEqual(contacts.map(({ key }) => key).sort(), [known, fresh, refused]);
  assert.deepEqual(
    [...(await contactsOf(survey))].map((row) => ({ ...row })),
    [
      { email: 'New@People.test', name: 'First', properties: { seats: 3 }, status: 'sending' },
      { email: known, name: 'Ada', properties: { plan: 'pro', city: 'Kyiv' }, status: 'sending' },
      { email: refused, name: 'Ruth', properties: {}, status: 'pending' },
    ],
  );
  assert.equal((await mailsOf(survey)).length, 2);
});

test('dry run of a claim writes nothing', async () => {
  const survey = await scene(completed);
  const before = await contactsOf(survey);
  const { judgements, claimed, contacts } = await dryRunClaim(
    db,
    survey,
    requestOf({ email: known, name: 'Eve' }, { email: fresh }, { email: refused }).submitted,
  );
  assert.equal(judgements.length, 3);
  assert.deepEqual([...claimed].sort(), [known, fresh]);
  assert.deepEqual(
    contacts.map(({ key }) => key),
    [known],
  );
  assert.deepEqual([...(await contactsOf(survey))], [...before]);
  assert.equal((await mailsOf(survey)).length, 0);
  const kept = await db`
    select from mail_usage where org_id = ${survey.orgId}
    union all
    select from test.jobs where payload ->> 'org_id' = ${survey.orgId}
    union all
    select from surveys where id = ${survey.surveyId} and status <> 'completed'`;
  assert.equal(kept.length, 0);
});
