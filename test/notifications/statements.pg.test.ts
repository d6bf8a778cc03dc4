import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { findChoices, findStop, saveChoices } from '../../src/notifications/choices.ts';
import { countOpenDetractors, readDigestPeriods } from '../../src/notifications/digest.ts';
import {
  claimNotification,
  findAnswer,
  findCampaign,
  findLimit,
  findWebhookOff,
  releaseNotification,
} from '../../src/notifications/mail.ts';
import { claimPost, saveSlackHook } from '../../src/notifications/slack.ts';
import { sweepDigests, sweepNotifications } from '../../src/notifications/sweep.ts';
import {
  makeContact,
  makeOrganization,
  makeResponse,
  makeSurvey,
  makeWebhook,
} from '../support/make/rows.ts';
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

const notify = async (of: { org_id: string; member_id: string | null }, over = {}) => {
  const row = { ...of, kind: 'held', subject: randomUUID(), ...over };
  const [made] = await db<{ id: string }[]>`
    insert into notifications ${db(row)} returning id`;
  return made!.id;
};

const noticed = async (org_id: string) => {
  const rows = await db<{ kind: string; subject: string }[]>`
    select kind, subject from notifications where org_id = ${org_id} order by kind, subject`;
  return rows.map(({ kind, subject }) => `${kind} ${subject}`);
};

test('a notification is claimed once, within a day, and while it is wanted', async () => {
  const { org_id, member_id } = await scene({ events: ['held'], digest: 'none' });
  const of = { org_id, member_id };
  const claims = async (over: object) =>
    (await claimNotification(db, org_id, await notify(of, over))) !== undefined;
  assert.equal(await claims({ created_at: minutes(24 * 60 - 1) }), true);
  assert.equal(await claims({ created_at: minutes(24 * 60 + 1) }), false);
  assert.equal(await claims({ kind: 'detractor' }), false);
  assert.equal(await claims({ kind: 'digest' }), false);
  const id = await notify(of);
  assert.equal(await claimNotification(db, (await scene()).org_id, id), undefined);
  assert.ok(await claimNotification(db, org_id, id));
  assert.equal(await claimNotification(db, org_id, id), undefined);
  await releaseNotification(db, org_id, id);
  assert.ok(await claimNotification(db, org_id, id));
  await db`update notification_choices set digest = 'day', events = '{}' where org_id = ${org_id}`;
  assert.equal(await claims({ kind: 'digest' }), true);
  assert.equal(await claims({}), false);
});

test('a post is claimed once, within a day, while it is wanted, and is not the mail of a member', async () => {
  const { org_id, member_id } = await scene();
  const hook = (events: 'held'[], digest: 'none' | 'week') =>
    saveSlackHook(db, org_id, { url: Buffer.from('sealed'), events, digest });
  await hook(['held'], 'none');
  const claims = async (over: object = {}, member: string | null = null) =>
    (await claimPost(db, org_id, await notify({ org_id, member_id: member }, over))) !== undefined;
  assert.equal(await claims({ created_at: minutes(24 * 60 - 1) }), true);
  assert.equal(await claims({ created_at: minutes(24 * 60 + 1) }), false);
  assert.equal(await claims({}, member_id), false);
  assert.equal(await claims({ kind: 'detractor' }), false);
  assert.equal(await claims({ kind: 'digest' }), false);
  await hook([], 'week');
  assert.equal(await claims({ kind: 'digest' }), true);
  assert.equal(await claims(), false);
});

test('a sweep notes what occurred within the hour, from a minute before the choice on', async () => {
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

test('thirty answers of a kind are noted an hour, the oldest first', async () => {
  const { org_id, of } = await scene();
  await db`
    insert into responses (org_id, survey_id, score, category, created_at)
    select ${org_id}, ${of.survey_id}, 2, 'detractor', now() - make_interval(mins => n)
    from generate_series(1, 31) n`;
  await makeResponse(db, of, { held_reason: 'scanner' });
  await sweepNotifications({ db });
  const noted = await noticed(org_id);
  assert.equal(noted.filter((one) => one.startsWith('detractor')).length, 30);
  assert.equal(noted.filter((one) => one.startsWith('held')).length, 1);
  const [newest] = await db<{ id: string }[]>`
    select id from responses where org_id = ${org_id} and held_reason is null order by created_at desc limit 1`;
  assert.ok(!noted.includes(`detractor ${newest?.id}`));
});

test('a webhook that was switched off after failures is noted for an hour, to its organization alone', async () => {
  const [mine, theirs] = [await scene(), await scene()];
  const off = { active: false, deactivated_reason: 'it failed' };
  const id = await makeWebhook(db, mine.org_id, { ...off, deactivated_at: minutes(59) });
  await makeWebhook(db, mine.org_id, { ...off, deactivated_at: minutes(61) });
  await makeWebhook(db, mine.org_id, { active: false, deactivated_at: minutes(1) });
  await saveSlackHook(db, mine.org_id, {
    url: Buffer.from('sealed'),
    events: ['webhook_off'],
    digest: 'none',
  });
  await db`update slack_hooks set changed_at = now() - interval '1 day' where org_id = ${mine.org_id}`;
  await sweepNotifications({ db });
  const noted = await noticed(mine.org_id);
  assert.deepEqual(
    noted.map((one) => one.split(' ').slice(0, 2)),
    [
      ['webhook_off', id],
      ['webhook_off', id],
    ],
  );
  assert.deepEqual(await noticed(theirs.org_id), []);
  assert.equal((await findWebhookOff(db, mine.org_id, id))?.reason, 'it failed');
  assert.equal(await findWebhookOff(db, theirs.org_id, id), undefined);
});

for (const [now, digests] of [
  ['2026-03-10T08:59:59Z', 0],
  ['2026-03-10T09:00:00Z', 1],
  ['2026-03-10T14:59:59Z', 1],
  ['2026-03-10T15:00:00Z', 0],
] as const) {
  test(`at ${now} ${digests} digest is due where the clock is that of UTC`, async () => {
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

test('a digest is of the day or week that ended, and of the one before, by the clock of its reader', async () => {
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

test('a member without a choice gets nothing, by the clock of the organization', async () => {
  const { org_id } = await scene();
  const other = await makeMember(db);
  await joinOrganization(db, { org: org_id, member: other, role: 'viewer' });
  const own = { orgId: org_id, memberId: other };
  const choices = async () => ({ ...(await findChoices(db, own)) });
  assert.deepEqual(await choices(), { events: [], digest: 'none', time_zone: 'Asia/Tokyo' });
  assert.equal(await findStop(db, own), undefined);
  const before = minutes(1);
  await saveChoices(db, own, { events: ['held'], digest: 'week', time_zone: 'UTC' });
  await db`update notification_choices set changed_at = ${minutes(9)} where member_id = ${other}`;
  await saveChoices(db, own, {
    events: ['held', 'detractor'],
    digest: 'day',
    time_zone: 'Asia/Tokyo',
  });
  assert.deepEqual(await choices(), {
    events: ['held', 'detractor'],
    digest: 'day',
    time_zone: 'Asia/Tokyo',
  });
  const [row] = await db<{ at: Date }[]>`
    select changed_at as at from notification_choices where member_id = ${other}`;
  assert.ok(row!.at > before);
});

test('a notification holds what is of its own organization', async () => {
  const [mine, theirs] = [await scene(), await scene()];
  const contact_id = await makeContact(db, mine.of, { email: 'eve@people.test', name: 'Eve' });
  const bad = { score: 2, category: 'detractor' };
  const id = await makeResponse(db, mine.of, { ...bad, contact_id });
  for (const over of [{ chosen_state: 'done' }, { held_reason: 'scanner' }]) {
    await makeResponse(db, mine.of, { ...bad, ...over });
  }
  await makeResponse(db, mine.of, { score: 8, category: 'passive', chosen_state: 'open' });
  await makeResponse(db, theirs.of, bad);
  assert.equal(await countOpenDetractors(db, mine.org_id), 1);
  const found = await findAnswer(db, mine.org_id, id);
  assert.deepEqual([found?.score, found?.contact_name, found?.type], [2, 'Eve', 'nps']);
  assert.equal(await findAnswer(db, theirs.org_id, id), undefined);
  await db`insert into mail_usage ${db({ org_id: mine.org_id, month: '2026-03-01', used: 81 })}`;
  assert.deepEqual(
    { ...(await findLimit(db, mine.org_id, '2026-03-01')) },
    { used: 81, most: 100 },
  );
  assert.equal(await findLimit(db, mine.org_id, '2026-04-01'), undefined);
  assert.equal(await findCampaign(db, mine.org_id, randomUUID()), undefined);
});
