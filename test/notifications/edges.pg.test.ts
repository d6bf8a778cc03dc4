import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { inTransaction, type Part, type Sql } from '../../src/lib/db/db.ts';
import { removeChoice } from '../../src/notifications/choices.ts';
import { claimNotification, findAnswer, findCampaign } from '../../src/notifications/mail.ts';
import { claimPost, saveSlackHook } from '../../src/notifications/slack.ts';
import {
  deleteOldNotifications,
  insertAssigned,
  insertNotifications,
} from '../../src/notifications/sweep.ts';
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
const events = ['detractor', 'held', 'webhook_off', 'campaign_finished', 'assigned'];

/** Two members of an organization who want to know everything, since ten minutes ago unless the test says when. */
async function scene(changed_at = new Date(Date.now() - 10 * 60_000)) {
  const org_id = await makeOrganization(db);
  const join = async () => {
    const member_id = await makeMember(db);
    await joinOrganization(db, { org: org_id, member: member_id, role: 'viewer' });
    await db`insert into notification_choices ${db({ org_id, member_id, events, changed_at })}`;
    return member_id;
  };
  const [member_id, colleague] = [await join(), await join()];
  return { org_id, survey_id: await makeSurvey(db, org_id), member_id, colleague };
}
type Scene = Awaited<ReturnType<typeof scene>>;

const subjectsOf = async (member_id: string) => {
  const rows = await db<{ subject: string }[]>`
    select subject from notifications where member_id = ${member_id}`;
  return rows.map(({ subject }) => subject.split(' ')[0]);
};

const occurs: [what: string, occur: (of: Scene, at: Date) => Promise<string>][] = [
  [
    'an answer',
    ({ org_id, survey_id }, created_at) =>
      makeResponse(db, { org_id, survey_id }, { score: 2, category: 'detractor', created_at }),
  ],
  [
    'a webhook that is switched off',
    ({ org_id }, deactivated_at) =>
      makeWebhook(db, org_id, { active: false, deactivated_reason: 'it failed', deactivated_at }),
  ],
  [
    'a campaign that is finished',
    async ({ org_id, survey_id }, finished_at) => {
      const row = { org_id, survey_id, name: 'May', status: 'finished', total: 1, finished_at };
      const [made] = await db<{ id: string }[]>`insert into campaigns ${db(row)} returning id`;
      return made!.id;
    },
  ],
];
for (const [what, occur] of occurs) {
  test(`${what} is noted from exactly a minute before the choice on`, async () => {
    const chosen = new Date(Date.now() - 10 * 60_000);
    const of = await scene(chosen);
    const first = chosen.getTime() - 60_000;
    const noted = await occur(of, new Date(first));
    await occur(of, new Date(first - 1));
    await insertNotifications(db);
    for (const member of [of.member_id, of.colleague])
      assert.deepEqual(await subjectsOf(member), [noted]);
  });
}

const thirty = async (sql: Sql, row: { org_id: string; member_id: string }, at: Part, kind = '') =>
  await sql`
    insert into notifications (org_id, member_id, kind, subject, created_at)
    select ${row.org_id}, ${row.member_id}, ${kind || 'detractor'}, gen_random_uuid()::text, ${at}
    from generate_series(1, 30)`;

test('thirty answers that a member was notified of within the hour keep the next one back, and no others do', async () => {
  const { org_id, survey_id, member_id, colleague } = await scene();
  const other = await scene();
  await inTransaction(db, async (tx) => {
    await thirty(tx, { org_id, member_id }, tx`now() - interval '1 hour'`);
    await thirty(tx, { org_id, member_id }, tx`now()`, 'held');
    await thirty(
      tx,
      { org_id, member_id: colleague },
      tx`now() - interval '1 hour' + interval '1 microsecond'`,
    );
    await thirty(tx, other, tx`now()`);
    const bad = { score: 2, category: 'detractor' };
    const id = await makeResponse(tx, { org_id, survey_id }, bad);
    await insertNotifications(tx);
    const noted = await tx`select member_id from notifications where subject = ${id}`;
    assert.deepEqual(
      noted.map((row) => row['member_id']),
      [member_id],
    );
  });
});

test('an answer is noted once to each member, and again as what it becomes', async () => {
  const { org_id, survey_id, member_id, colleague } = await scene();
  const choose = (chosen: string[]) => db`
    update notification_choices set events = ${chosen} where member_id = ${colleague}`;
  const bad = { score: 2, category: 'detractor', held_reason: 'scanner' };
  await choose([]);
  const id = await makeResponse(db, { org_id, survey_id }, bad);
  await insertNotifications(db);
  assert.deepEqual([await subjectsOf(member_id), await subjectsOf(colleague)], [[id], []]);
  await choose(events);
  await insertNotifications(db);
  assert.deepEqual([await subjectsOf(member_id), await subjectsOf(colleague)], [[id], [id]]);
  await db`update responses set held_reason = null where id = ${id}`;
  for (let times = 0; times < 2; times++) await insertNotifications(db);
  assert.deepEqual(
    [await subjectsOf(member_id), await subjectsOf(colleague)],
    [
      [id, id],
      [id, id],
    ],
  );
});

test('a notification is claimed for less than a day, and deleted after more than a hundred days', async () => {
  const { org_id, member_id } = await scene();
  await inTransaction(db, async (tx) => {
    const hook = { url: Buffer.from('sealed'), events: ['held' as const], digest: 'none' as const };
    await saveSlackHook(tx, org_id, hook);
    const notify = async (member: string | null, age: Part) => {
      const [made] = await tx<{ id: string }[]>`
        insert into notifications (org_id, member_id, kind, subject, created_at)
        values (${org_id}, ${member}, 'held', ${randomUUID()}, now() - ${age}) returning id`;
      return made!.id;
    };
    const day = () => tx`interval '1 day'`;
    assert.equal(await claimNotification(tx, org_id, await notify(member_id, day())), undefined);
    assert.equal(await claimPost(tx, org_id, await notify(null, day())), undefined);
    await notify(member_id, tx`interval '100 days'`);
    assert.equal(await deleteOldNotifications(tx, 9), 0);
  });
});

test('what one member wants or stops is not what another one does', async () => {
  const { org_id, member_id, colleague } = await scene();
  const kind = 'held';
  assert.deepEqual((await removeChoice(db, { orgId: org_id, memberId: member_id, kind }))?.events, [
    ...events.filter((event) => event !== kind),
  ]);
  const claims = async (member: string) => {
    const row = { org_id, member_id: member, kind, subject: randomUUID() };
    const [made] = await db<{ id: string }[]>`insert into notifications ${db(row)} returning id`;
    return (await claimNotification(db, org_id, made!.id))?.member_id;
  };
  assert.equal(await claims(member_id), undefined);
  assert.equal(await claims(colleague), colleague);
});

test('an assignment is notified to the member that it was to, if the response is still its own', async () => {
  const { org_id, survey_id, member_id, colleague } = await scene();
  const id = await makeResponse(db, { org_id, survey_id }, { owner_id: colleague });
  const assign = (memberId: string) =>
    insertAssigned(db, { orgId: org_id, memberId, responseId: id });
  await assign(member_id);
  assert.deepEqual([await subjectsOf(member_id), await subjectsOf(colleague)], [[], []]);
  await assign(colleague);
  assert.deepEqual([await subjectsOf(member_id), await subjectsOf(colleague)], [[], [id]]);
});

test('an answer and a campaign are shown with their own survey and contact', async () => {
  const { org_id } = await scene();
  const found = [];
  for (const [name, type] of [
    ['Stars', 'star5'],
    ['Ease', 'ces'],
    ['Thumbs', 'thumbs'],
  ]) {
    const survey_id = await makeSurvey(db, org_id, { name, type });
    const of = { org_id, survey_id };
    await makeContact(db, of, { name: `Before ${name}` });
    const contact_id = await makeContact(db, of, { name: `Contact of ${name}` });
    await makeContact(db, of, { name: `After ${name}` });
    const row = { ...of, name: 'May', status: 'finished', total: 1, finished_at: new Date() };
    const [campaign] = await db<{ id: string }[]>`insert into campaigns ${db(row)} returning id`;
    found.push({
      name,
      type,
      survey_id,
      campaign: campaign!.id,
      answer: await makeResponse(db, of, { contact_id }),
    });
  }
  for (const { name, type, survey_id, campaign, answer } of found) {
    const { survey, type: scale, contact_name } = (await findAnswer(db, org_id, answer))!;
    assert.deepEqual([survey, scale, contact_name], [name, type, `Contact of ${name}`]);
    const shown = await findCampaign(db, org_id, campaign);
    assert.deepEqual([shown?.survey, shown?.survey_id], [name, survey_id]);
  }
});

test('what notifications show of a response is decided by its own organization', async () => {
  const [open, closed] = [await scene(), await scene()];
  await db`
    insert into notification_contents ${db({ org_id: open.org_id, people: true, unedited: true })}`;
  for (const [{ org_id, member_id }, shown] of [
    [open, true],
    [closed, false],
  ] as const) {
    const row = { org_id, member_id, kind: 'held', subject: randomUUID() };
    const [made] = await db<{ id: string }[]>`insert into notifications ${db(row)} returning id`;
    const { people, unedited } = (await claimNotification(db, org_id, made!.id))!;
    assert.deepEqual([people, unedited], [shown, shown]);
  }
});
