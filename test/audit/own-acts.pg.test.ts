import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { type Act, acts, commandActor, commandWriter } from '../../src/audit/acts.ts';
import { createCampaign } from '../../src/campaigns/campaign.ts';
import { createSecrets } from '../../src/lib/crypto/secrets.ts';
import { inviteMember, withdrawInvitation } from '../../src/members/invite.ts';
import { createResetLink } from '../../src/members/reset.ts';
import { makeOperator, removeOperator } from '../../src/members/roles.ts';
import { tagMany } from '../../src/responses/follow-up.ts';
import { createTag } from '../../src/tags/tags.ts';
import { campaignRunner } from '../support/make/campaigns.ts';
import { makeClient, makeContact, makeResponse, makeSurvey } from '../support/make/rows.ts';
import { joinOrganization, makeMember } from '../support/make/session.ts';
import { bareApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';

/** Acts of jobs and reads, and of functions without a route or command. */
const { db } = await testDatabase();
const app = bareApp(db);
const publicUrl = 'https://askback.test';
const secrets = createSecrets([Buffer.alloc(32, 1)]);
const tools = { db, secrets, publicUrl, mails: false };

async function organization() {
  const { id: orgId, read } = await makeClient(db);
  const by = commandWriter(orgId);
  const email = `${randomUUID()}@people.test`;
  const member = await makeMember(db, { email });
  await joinOrganization(db, { org: orgId, member, role: 'owner' });
  return { orgId, read, by, email, member };
}

type Organization = Awaited<ReturnType<typeof organization>>;

/** Runs a scheduled campaign to its end, or until it exceeds the monthly limit. */
async function campaign({ orgId, by }: Organization, monthly_send_limit: number) {
  await db`update organizations set monthly_send_limit = ${monthly_send_limit} where id = ${orgId}`;
  const surveyId = await makeSurvey(db, orgId);
  const of = { org_id: orgId, survey_id: surveyId };
  for (const email of ['ann@people.test', 'bob@people.test']) await makeContact(db, of, { email });
  const runner = campaignRunner(db, orgId);
  const sendAt = new Date(runner.clock.at.getTime() + 2000);
  await createCampaign(runner.tools, by, { surveyId, send_at: sendAt });
  await runner.workFor(5);
}

/** Functions, the acts that they record, and how often. Acts of the deployment have no organization. */
const leaving: [act: Act, times: number, by: string, what: (of: Organization) => unknown][] = [
  ['campaign.started', 1, 'a campaign at its time', (of) => campaign(of, 10)],
  ['campaign.finished', 1, 'a campaign without mails left', (of) => campaign(of, 10)],
  ['campaign.refused', 0, 'a campaign that starts', (of) => campaign(of, 10)],
  ['campaign.refused', 1, 'a campaign over the limit', (of) => campaign(of, 1)],
  ['campaign.started', 0, 'a campaign over the limit', (of) => campaign(of, 1)],
  [
    'contacts.exported',
    1,
    'an export',
    ({ read }) => app.request('/api/v1/contacts/export?format=csv', { headers: read }),
  ],
  [
    'people.exported',
    1,
    'an export',
    ({ read }) => app.request('/api/v1/people/export?format=csv', { headers: read }),
  ],
  [
    'invitation.withdrawn',
    1,
    'an owner',
    async ({ by }) => {
      const email = `${randomUUID()}@people.test`;
      const { id } = await inviteMember(tools, by, { role: 'viewer', email });
      await withdrawInvitation(db, by, id);
    },
  ],
  [
    'member.operator_made',
    1,
    'the command line',
    ({ email }) => makeOperator(tools, commandActor(), email),
  ],
  [
    'member.operator_removed',
    1,
    'the command line',
    async ({ member, email }) => {
      await makeMember(db, { email: `${randomUUID()}@people.test`, is_operator: true });
      await makeOperator(tools, commandActor(), email);
      await removeOperator(db, commandActor(), member);
    },
  ],
  ['member.reset', 1, 'a new link', ({ email }) => createResetLink(tools, commandActor(), email)],
  [
    'responses.tagged',
    1,
    'a tag on two responses',
    async ({ by, orgId }) => {
      const { id: tagId } = await createTag(db, by, { name: 'vip' });
      const of = { org_id: orgId, survey_id: await makeSurvey(db, orgId) };
      const responseIds = [await makeResponse(db, of), await makeResponse(db, of)];
      assert.equal(await tagMany({ db }, by, { responseIds, tagId, put: true }), 2);
    },
  ],
];

for (const [act, times, by, what] of leaving) {
  test(`${by} records ${act} ${times === 1 ? 'once' : 'never'}`, async () => {
    const of = await organization();
    const [before] = await db`select clock_timestamp() as at`;
    await what(of);
    const events = await db`
      select from audit_events
      where act = ${act} and (org_id = ${of.orgId} or org_id is null) and at > ${before!['at']}`;
    assert.equal(events.length, times);
  });
}

test('every act has a test', () => {
  const texts = globSync('test/**/*.ts').map((path) => readFileSync(path, 'utf8'));
  const unseen = Object.keys(acts).filter((act) => !texts.some((text) => text.includes(act)));
  assert.deepEqual(unseen, []);
});
