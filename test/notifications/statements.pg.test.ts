import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { readDigestPeriods } from '../../src/notifications/digest.ts';
import { claimNotification } from '../../src/notifications/mail.ts';
import { claimPost, saveSlackHook } from '../../src/notifications/slack.ts';
import { sweepDigests, sweepNotifications } from '../../src/notifications/sweep.ts';
import { offManually } from '../../src/webhooks/rules.ts';
import { makeOrganization, makeResponse, makeSurvey, makeWebhook } from '../support/make/rows.ts';
import { joinOrganization, makeMember } from '../support/make/session.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();
const minutes = (n: number) => new Date(Date.now() - n * 60_000);
const everyKind = ['detractor', 'held', 'webhook_off', 'limit_near', 'limit_reached'];

async function scene(wish: Record<string, unknown> = { events: everyKind }) {
  const org_id = await makeOrganization(db, { monthly_send_limit: 100, time_zone: 'Asia/Tokyo' });
  const member_id = await makeMember(db);
  await joinOrganization(db, { org: org_id, member: member_id, role: 'viewer' });
  await db`insert into notification_choices ${db({ org_id, member_id, changed_at: minutes(999), ...wish })}`;
  const of = { org_id, survey_id: await makeSurvey(db, org_id) };
  return { org_id, member_id, of };
}

const noticed = async (org_id: string) => {
  const rows = await db<{ kind: string; subject: string }[]>`
    select kind, subject from notifications where org_id = ${org_id} order by kind, subject`;
  return rows.map(({ kind, subject }) => `${kind} ${subject}`);
};

test('sweep finds events of the last hour, but none before the choice', async () => {
  const young = await scene({ events: everyKind, changed_at: minutes(10) });
  const old = await scene();
  const bad = { score: 2, category: 'detractor' };
  const at = (n: number) => ({ ...bad, created_at: minutes(n) });
  const expected = [
    await makeResponse(db, young.of, at(10.5)),
    await makeResponse(db, young.of, at(0)),
  ];
  await makeResponse(db, young.of, at(11.5));
  const ofOld = [await makeResponse(db, old.of, at(59.5))];
  await makeResponse(db, old.of, at(60.5));
  await makeResponse(db, old.of, { ...bad, source: 'import' });
  await makeResponse(db, old.of, { score: 8, category: 'passive' });
  const held = await makeResponse(db, old.of, { ...bad, held_reason: 'scanner' });
  await sweepNotifications({ db });
  await sweepNotifications({ db });
  assert.deepEqual(await noticed(young.org_id), expected.map((id) => `detractor ${id}`).sort());
  assert.deepEqual(
    await noticed(old.org_id),
    [...ofOld.map((id) => `detractor ${id}`), `held ${held}`].sort(),
  );
});

test('a notification is claimed once, within a day', async () => {
  const { org_id, member_id } = await scene();
  await saveSlackHook(db, org_id, { url: Buffer.from('x'), events: ['held'], digest: 'none' });
  for (const [claim, to] of [
    [claimNotification, member_id],
    [claimPost, null],
  ] as const) {
    const claims = async (created_at: Date) => {
      const row = { org_id, member_id: to, kind: 'held', subject: randomUUID(), created_at };
      const [made] = await db<{ id: string }[]>`insert into notifications ${db(row)} returning id`;
      const claimed = [await claim(db, org_id, made!.id), await claim(db, org_id, made!.id)];
      return claimed.map((each) => each !== undefined);
    };
    assert.deepEqual(await claims(minutes(24 * 60 - 1)), [true, false]);
    assert.deepEqual(await claims(minutes(24 * 60 + 1)), [false, false]);
  }
});

test('sweep finds a webhook that failures turned off, not a member', async () => {
  const { org_id } = await scene();
  const off = { active: false, deactivated_at: minutes(1) };
  const id = await makeWebhook(db, org_id, { ...off, deactivated_reason: 'it failed' });
  await makeWebhook(db, org_id, { ...off, deactivated_reason: offManually });
  await sweepNotifications({ db });
  const found = await noticed(org_id);
  assert.deepEqual([found.length, found[0]?.startsWith(`webhook_off ${id} `)], [1, true]);
});

for (const [now, digests] of [
  ['2026-03-10T08:59:59Z', 0],
  ['2026-03-10T09:00:00Z', 1],
  ['2026-03-10T14:59:59Z', 1],
  ['2026-03-10T15:00:00Z', 0],
] as const) {
  test(`at ${now} UTC ${digests} digest is due`, async () => {
    await db`delete from notification_choices`;
    const changed_at = new Date('2026-03-10T08:59:58Z');
    const { org_id } = await scene({ digest: 'day', time_zone: 'UTC', changed_at });
    const late = await scene({ digest: 'day', changed_at: new Date('2026-03-10T09:00:00Z') });
    const none = await scene({ digest: 'none' });
    await sweepDigests({ db }, new Date(now));
    assert.deepEqual(await noticed(org_id), digests ? ['digest day 2026-03-10'] : []);
    for (const other of [late, none]) assert.deepEqual(await noticed(other.org_id), []);
  });
}

test("digest covers the last day or week in the reader's zone", async () => {
  const periods = async (unit: string) => {
    const { before, start, end } = await readDigestPeriods(db, {
      unit,
      day: '2026-03-30',
      timeZone: 'Europe/Berlin',
    });
    return [before, start, end].map((at) => at.toISOString().slice(0, 16));
  };
  assert.deepEqual(await periods('day'), [
    '2026-03-27T23:00',
    '2026-03-28T23:00',
    '2026-03-29T22:00',
  ]);
  assert.deepEqual(await periods('week'), [
    '2026-03-15T23:00',
    '2026-03-22T23:00',
    '2026-03-29T22:00',
  ]);
});
