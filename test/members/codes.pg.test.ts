import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { commandActor } from '../../src/audit/acts.ts';
import { createSecrets } from '../../src/lib/crypto/secrets.ts';
import {
  checkSecondStep,
  createTotpSecret,
  pendingSecret,
  renewRecoveryCodes,
  turnOffCodes,
  turnOnCodes,
} from '../../src/members/codes.ts';
import { resealSecrets } from '../../src/reseal.ts';
import { codeOf, wrongCode } from '../support/make/codes.ts';
import { makeOrganization } from '../support/make/rows.ts';
import { joinOrganization, makeMember } from '../support/make/session.ts';
import { testDatabase } from '../support/probe/database.ts';
import { keptLog } from '../support/probe/log.ts';

const { db } = await testDatabase();
const [before, today] = [randomBytes(32), randomBytes(32)];
const secrets = createSecrets([before]);
const tools = { db, secrets };

async function memberWithCodes() {
  const memberId = await makeMember(db);
  const own = { memberId, actor: commandActor() };
  await createTotpSecret(tools, memberId);
  const secret = (await pendingSecret(tools, memberId))!;
  const used = codeOf(secret);
  const recovery = await turnOnCodes(tools, own, used);
  assert.ok(recovery);
  return { memberId, own, secret, recovery, used };
}

test('codes work after a first code proves the app', async () => {
  const memberId = await makeMember(db);
  const own = { memberId, actor: commandActor() };
  await createTotpSecret(tools, memberId);
  const secret = (await pendingSecret(tools, memberId))!;
  assert.equal(await checkSecondStep(tools, memberId, codeOf(secret)), false);
  assert.equal(await turnOnCodes(tools, own, wrongCode(secret)), undefined);
  assert.equal((await turnOnCodes(tools, own, codeOf(secret)))?.length, 10);
  assert.equal(await pendingSecret(tools, memberId), undefined);
});

test('a code works once for ten concurrent sign-ins', async () => {
  const { memberId, secret } = await memberWithCodes();
  const code = codeOf(secret, 1);
  const at = await Promise.all(
    Array.from({ length: 10 }, () => checkSecondStep(tools, memberId, code)),
  );
  assert.deepEqual(at.filter(Boolean), [true]);
});

test('a recovery code works once for ten concurrent sign-ins', async () => {
  const { memberId, recovery } = await memberWithCodes();
  const at = await Promise.all(
    Array.from({ length: 10 }, () => checkSecondStep(tools, memberId, recovery[0]!)),
  );
  assert.deepEqual(at.filter(Boolean), [true]);
  assert.ok(await checkSecondStep(tools, memberId, recovery[1]!.toUpperCase()));
});

test('the recovery code of another member does not work', async () => {
  const [ann, bob] = [await memberWithCodes(), await memberWithCodes()];
  assert.equal(await checkSecondStep(tools, bob.memberId, ann.recovery[0]!), false);
});

test('new recovery codes invalidate the old ones', async () => {
  const { memberId, own, recovery } = await memberWithCodes();
  const [fresh] = await renewRecoveryCodes(db, own);
  assert.equal(await checkSecondStep(tools, memberId, recovery[0]!), false);
  assert.ok(await checkSecondStep(tools, memberId, fresh!));
});

test('turning codes off invalidates codes and recovery codes', async () => {
  const { memberId, own, secret, recovery } = await memberWithCodes();
  await turnOffCodes(db, own);
  assert.equal(await checkSecondStep(tools, memberId, codeOf(secret, 1)), false);
  assert.equal(await checkSecondStep(tools, memberId, recovery[0]!), false);
  await assert.rejects(renewRecoveryCodes(db, own), { code: 'codes_off' });
});

test('acts on codes are audited in each organization without secrets', async () => {
  const { memberId, own, recovery } = await memberWithCodes();
  const [a, b] = [await makeOrganization(db), await makeOrganization(db)];
  for (const org of [a, b]) await joinOrganization(db, { org, member: memberId, role: 'viewer' });
  await renewRecoveryCodes(db, own);
  await turnOffCodes(db, own);
  const events = await db<{ org_id: string | null; act: string }[]>`
    select org_id, act from audit_events where target_id = ${memberId} order by at, act, org_id`;
  assert.deepEqual(
    events.map(({ org_id, act }) => [org_id, act]),
    [
      [null, 'member.codes_on'],
      ...[a, b].sort().map((org) => [org, 'member.codes_renewed']),
      ...[a, b].sort().map((org) => [org, 'member.codes_off']),
    ],
  );
  const [{ text }] = await db<[{ text: string }]>`
    select string_agg(e::text, ' ') as text from audit_events e where target_id = ${memberId}`;
  assert.ok(!text.includes(recovery[0]!));
});

test('a secret sealed with the previous key is resealed with the current one', async () => {
  const { memberId, secret } = await memberWithCodes();
  const [{ sealed }] = await db<[{ sealed: number }]>`
    select count(totp_secret)::int as sealed from members`;
  const { lines, log } = keptLog();
  await resealSecrets({ db, log, secrets: createSecrets([randomBytes(32)]) });
  const line = ['error', 'secrets of two-step verification cannot be opened', { count: sealed }];
  assert.deepEqual(lines.splice(0), [line]);
  await resealSecrets({ db, log, secrets: createSecrets([today, before]) });
  assert.deepEqual(lines, []);
  const later = { db, secrets: createSecrets([today]) };
  assert.ok(await checkSecondStep(later, memberId, codeOf(secret, 1)));
});

test('recovery codes still work after a change of the server key', async () => {
  const { memberId, secret, recovery } = await memberWithCodes();
  const other = { db, secrets: createSecrets([randomBytes(32)]) };
  const code = codeOf(secret, 1);
  await assert.rejects(checkSecondStep(other, memberId, code), { code: 'codes_unreadable' });
  assert.ok(await checkSecondStep(other, memberId, recovery[0]!));
});
