import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  findAwaitingCode,
  findSession,
  insertSession,
  renewProof,
} from '../../src/sessions/queries.ts';
import { hashToken, newToken } from '../../src/sessions/session.ts';
import { offManually } from '../../src/webhooks/rules.ts';
import { makeOrganization, makeResponse, makeSurvey, makeWebhook } from '../support/make/rows.ts';
import { joinOrganization, makeMember, slugOfOrganization } from '../support/make/session.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();

async function startSession(memberId: string, over: Record<string, unknown> = {}) {
  const tokenHash = hashToken(newToken());
  const from = { awaits_code: false, user_agent: null, address: null };
  const id = await insertSession(db, { token_hash: tokenHash, member_id: memberId, ...from });
  if (Object.keys(over).length > 0) await db`update sessions set ${db(over)} where id = ${id}`;
  return { id, tokenHash };
}

const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000);

/** Three organizations of a member, two of one name. Sorted by lower-case name, then slug. */
async function inThreeOrganizations() {
  const member = await makeMember(db);
  const mark = newToken()
    .toLowerCase()
    .replaceAll(/[^a-z]/g, '');
  const made = [
    { name: 'beech', slug: `b-${mark}`, role: 'editor' },
    { name: 'Ash', slug: `z-${mark}`, role: 'viewer' },
    { name: 'ash', slug: `a-${mark}`, role: 'owner' },
  ] as const;
  for (const { role, ...names } of made) {
    await joinOrganization(db, { org: await makeOrganization(db, names), member, role });
  }
  await makeOrganization(db, { name: 'Aspen' });
  const [last, second, first] = made.map(({ name, slug }) => ({ name, slug, color: '#2f6fed' }));
  return { member, inOrder: [first!, second!, last!], ...(await startSession(member)) };
}

test('organizations are sorted by name and slug, and the first is home', async () => {
  const { inOrder, tokenHash } = await inThreeOrganizations();
  const [first, second, last] = inOrder;
  assert.deepEqual((await findSession(db, tokenHash))?.otherOrganizations, inOrder);
  const found = await findSession(db, tokenHash, second!.slug);
  assert.equal(found?.organization?.role, 'viewer');
  assert.deepEqual(found?.otherOrganizations, [first, last]);
});

test('badges count only the open organization', async () => {
  const member = await makeMember(db);
  const org = await makeOrganization(db);
  const other = await makeOrganization(db);
  await joinOrganization(db, { org, member, role: 'viewer' });
  const of = { org_id: org, survey_id: await makeSurvey(db, org) };
  const elsewhere = { org_id: other, survey_id: await makeSurvey(db, other) };
  const detractor = { score: 2, category: 'detractor' };
  const days = (n: number) => ago(n * 24 * 60);
  await makeResponse(db, of, { ...detractor, created_at: days(29.9) });
  await makeResponse(db, of, { ...detractor, created_at: days(30.1) });
  await makeResponse(db, of, { ...detractor, held_reason: 'scanner' });
  await makeResponse(db, of, { ...detractor, chosen_state: 'done' });
  await makeResponse(db, of, { score: 8, category: 'passive' });
  await makeResponse(db, elsewhere, detractor);
  const hooks: { active: boolean; failure_count?: number; deactivated_reason?: string }[] = [
    { active: true, failure_count: 1 },
    { active: false, deactivated_reason: 'it failed' },
    { active: false, failure_count: 2, deactivated_reason: offManually },
    { active: true },
  ];
  for (const hook of hooks) await makeWebhook(db, org, hook);
  await makeWebhook(db, other, { failure_count: 3 });

  const { tokenHash } = await startSession(member);
  const found = await findSession(db, tokenHash, await slugOfOrganization(db, org));
  assert.equal(found?.organization?.openDetractors, 1);
  assert.equal(found?.organization?.failingWebhooks, 2);
});

test('a session waits ten minutes for a code', async () => {
  const member = await makeMember(db);
  const awaits_code = true;
  const young = await startSession(member, { awaits_code, created_at: ago(9.9) });
  const old = await startSession(member, { awaits_code, created_at: ago(10.1) });
  const whole = await startSession(member);
  const found = { memberId: member, sessionId: young.id };
  assert.deepEqual({ ...(await findAwaitingCode(db, young.tokenHash)) }, found);
  assert.equal(await findAwaitingCode(db, old.tokenHash), undefined);
  assert.equal(await findAwaitingCode(db, whole.tokenHash), undefined);
});

test('a proof only counts for its session', async () => {
  const member = await makeMember(db);
  const proved_at = ago(90);
  const [proved, other] = [
    await startSession(member, { proved_at }),
    await startSession(member, { proved_at }),
  ];
  await renewProof(db, proved.id);
  const provedAt = async (hash: Buffer) => (await findSession(db, hash))!.member.provedAt;
  assert.ok((await provedAt(proved.tokenHash)) > ago(1));
  assert.deepEqual(await provedAt(other.tokenHash), proved_at);
});

test('a session is found when the disk is full', async () => {
  const member = await makeMember(db);
  const { tokenHash } = await startSession(member, { used_at: ago(5) });
  await db`
    create function no_room() returns trigger language plpgsql as
      $$ begin raise 'could not extend file' using errcode = 'disk_full'; end $$`;
  await db`create trigger full_disk before update on sessions execute function no_room()`;
  const found = await findSession(db, tokenHash);
  await db`drop function no_room cascade`;
  assert.equal(found?.member.id, member);
});
