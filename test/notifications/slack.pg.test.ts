import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSecrets } from '../../src/lib/crypto/secrets.ts';
import type { OutboundAnswer } from '../../src/lib/outbound/post.ts';
import { postNotification } from '../../src/notifications/slack.ts';
import { sweepDigests, sweepNotifications } from '../../src/notifications/sweep.ts';
import { resealSecrets } from '../../src/reseal.ts';
import type { SubscriberClient } from '../../src/webhooks/deliver.ts';
import { losingCommits } from '../support/fakes/lost-commit.ts';
import { answerOf, subscriber } from '../support/fakes/subscriber.ts';
import { makeContact, makeOrganization, makeResponse, makeSurvey } from '../support/make/rows.ts';
import { taskTools } from '../support/make/task-tools.ts';
import { bareApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';
import { keptLog } from '../support/probe/log.ts';
import { memberBrowser } from '../support/probe/member.ts';

const { db } = await testDatabase();
const key = Buffer.alloc(32, 1);
const secrets = createSecrets([key]);
const app = bareApp(db, { secrets });
const address = 'https://8.8.8.8/services/T0/secret';
const { lines, log } = keptLog();

type Wrong = { comment?: string; email?: string; held_reason?: string; created_at?: Date };

async function scene(form: Record<string, string | string[]> = {}) {
  const org_id = await makeOrganization(db, { name: 'A & B' });
  const survey_id = await makeSurvey(db, org_id);
  const owner = await memberBrowser(db, { app, org: org_id });
  const page = `${owner.home}/settings/notifications`;
  const saved = await owner.post(`${page}/slack`, { url: address, events: 'detractor', ...form });
  assert.equal(saved.status, 303);
  const bad = async ({ email = 'zoe@people.test', ...over }: Wrong = {}) => {
    const of = { org_id, survey_id };
    const contact_id = await makeContact(db, of, { email, name: 'Zoe Quill' });
    const comment = 'Zoe Quill: <slow>';
    const given = { score: 2, category: 'detractor', contact_id, comment };
    return await makeResponse(db, of, { ...given, ...over });
  };
  return { org_id, page, owner, bad };
}

type Job = {
  payload: { org_id: string; notification_id: string; tries?: number };
  minutes: number;
};

/** Runs the waiting jobs and returns the posts. */
async function run(...statuses: (number | null)[]) {
  const { outbound, posts } = subscriber(...statuses);
  const tools = { ...taskTools(db), secrets, outbound, log };
  await sweepNotifications(tools);
  const jobs = await db<Job[]>`
    delete from test.jobs where task = 'notifications.post'
    returning payload, round(extract(epoch from run_at - now()) / 60)::int as minutes`;
  for (const { payload } of jobs) await postNotification(tools, payload);
  return { posts, minutes: jobs.map((job) => job.minutes) };
}

test('detractor is posted once without the contact', async () => {
  const { bad, owner } = await scene();
  const id = await bad();
  const { posts } = await run(200);
  assert.deepEqual((await run(200)).posts, []);
  assert.equal(posts.length, 1);
  assert.equal(posts[0]!.url, address);
  const { text, blocks } = JSON.parse(posts[0]!.body);
  assert.ok(text.includes(`https://askback.test${owner.home}/responses/${id}`));
  assert.match(text, /2 of 10/);
  assert.match(blocks[0].text.text, /&lt;slow&gt;/);
  assert.doesNotMatch(posts[0]!.body, /zoe/i);
});

test('post includes contact and full comment when allowed', async () => {
  const { bad, owner, page } = await scene();
  await owner.post(`${page}/contents`, { people: 'on', unedited: 'on' });
  await bad();
  await bad({ email: 'bob@people.test', held_reason: 'no_page_view' });
  const { posts } = await run(200);
  assert.equal(posts.length, 1);
  assert.match(posts[0]!.body, /From Zoe Quill, zoe@people\.test/);
  assert.match(posts[0]!.body, /“Zoe Quill: &lt;slow&gt;”/);

  await owner.post(`${page}/contents`, {});
  await bad({ email: 'zoe.quill@people.test' });
  assert.doesNotMatch((await run(200)).posts[0]!.body, /zoe|quill:/i);
});

test('repeated job posts once, and only chosen kinds', async () => {
  const { org_id, bad } = await scene();
  await bad();
  const { outbound, posts } = subscriber(200);
  const tools = { ...taskTools(db), secrets, outbound };
  await sweepNotifications(tools);
  const [job] = await db<Job[]>`
    delete from test.jobs where task = 'notifications.post' returning payload`;
  await db`update slack_hooks set events = '{held}' where org_id = ${org_id}`;
  await postNotification(tools, job!.payload);
  assert.equal(posts.length, 0);
  await db`update slack_hooks set events = '{detractor}' where org_id = ${org_id}`;
  await postNotification(tools, job!.payload);
  await postNotification(tools, job!.payload);
  assert.equal(posts.length, 1);
});

test('post is retried when the comment cannot be redacted', async () => {
  const { bad } = await scene();
  await bad();
  const { outbound, posts } = subscriber(200);
  const tools = { ...taskTools(db), secrets, outbound, log };
  await sweepNotifications(tools);
  const [job] = await db<Job[]>`
    delete from test.jobs where task = 'notifications.post' returning payload`;
  const excerpt = () => Promise.reject(new Error('not read'));
  await assert.rejects(postNotification({ ...tools, excerpt }, job!.payload));
  await postNotification(tools, job!.payload);
  assert.equal(posts.length, 1);
});

test('post is made once when the commit reply of its retry is lost', async () => {
  const { bad } = await scene();
  await bad();
  await sweepNotifications(taskTools(db));
  const [job] = await db<Job[]>`
    delete from test.jobs where task = 'notifications.post' returning payload`;
  const { outbound, posts } = subscriber(200);
  const tools = { ...taskTools(db), secrets, outbound, log };
  const refusing = {
    ...tools,
    outbound: subscriber(503).outbound,
    db: losingCommits(db, () => postNotification(tools, job!.payload)),
  };
  await assert.rejects(postNotification(refusing, job!.payload), { code: 'CONNECTION_CLOSED' });
  await postNotification(tools, job!.payload);
  await db`delete from test.jobs where task = 'notifications.post'`;
  assert.equal(posts.length, 1);
});

test('refused post is retried four times and then logged', async () => {
  const { org_id, bad } = await scene();
  await bad();
  const waits: (number | undefined)[] = [];
  lines.length = 0;
  for (let times = 0; times < 6; times++) {
    assert.deepEqual(
      lines,
      times < 5 ? [] : [['warn', 'notification was not posted', { org_id, outcome: 'status' }]],
    );
    waits.push((await run(503)).minutes[0]);
  }
  assert.deepEqual(waits.slice(1), [1, 5, 30, 120, undefined]);
});

type Answered = [statusCode: number | null, errorKind: OutboundAnswer['errorKind'], again: boolean];
const answers: Answered[] = [
  ...[200, 299, 199, 300, 404, 428, 499].map((code): Answered => [code, null, false]),
  ...[429, 500, 599].map((code): Answered => [code, null, true]),
  ...(['dns', 'connect', 'tls', 'busy'] as const).map((kind): Answered => [null, kind, true]),
  ...(['timeout', 'forbidden'] as const).map((kind): Answered => [null, kind, false]),
];

test('post is retried only if it was certainly not accepted', async () => {
  for (const [statusCode, errorKind, again] of answers) {
    const { org_id, bad } = await scene();
    await bad();
    await sweepNotifications(taskTools(db));
    const [job] = await db<
      Job[]
    >`delete from test.jobs where task = 'notifications.post' returning payload`;
    const { lines, log } = keptLog();
    const answer = { ...answerOf(200), statusCode, errorKind, error: errorKind && 'failed' };
    const outbound: SubscriberClient = {
      post: async (_, { deadlineMs }) => {
        assert.equal(deadlineMs, 10_000);
        return answer;
      },
    };
    const what = `${statusCode} ${errorKind}`;
    const tools = { ...taskTools(db), secrets, outbound, log };
    await postNotification(tools, job!.payload);
    const next = await db`delete from test.jobs where task = 'notifications.post'`;
    assert.equal(next.count, again ? 1 : 0, what);
    const [row] = await db`select sent_at from notifications where org_id = ${org_id}`;
    assert.equal(row!['sent_at'] === null, again, what);
    const isTaken = statusCode !== null && statusCode >= 200 && statusCode < 300;
    const fields = { org_id, outcome: errorKind ?? 'status' };
    const line = ['warn', 'notification was not posted', fields];
    assert.deepEqual(lines, again || isTaken ? [] : [line], what);
  }
});

test('webhook URL is encrypted, never shown, and kept when empty', async () => {
  const { org_id, owner, page } = await scene();
  const stored = async () =>
    (await db<{ url: Buffer }[]>`select url from slack_hooks where org_id = ${org_id}`)[0]?.url;
  assert.ok(!(await stored())!.includes('secret'));
  const html = await (await owner.submit(`${page}/slack`, { url: '', events: 'held' })).text();
  assert.match(html, /Webhook saved/);
  assert.doesNotMatch(html, /T0\/secret/);
  const acts = await db`select details from audit_events where org_id = ${org_id}`;
  assert.equal(acts.length, 2);
  assert.ok(!JSON.stringify(acts).includes('T0/secret'));

  const newer = createSecrets([Buffer.alloc(32, 2), key]);
  lines.length = 0;
  const hooks = (await db`select from slack_hooks`).length;
  const other = createSecrets([Buffer.alloc(32, 3)]);
  await resealSecrets({ db, log, secrets: other });
  const line = ['error', 'Slack webhook URLs cannot be opened', { count: hooks }];
  assert.deepEqual(lines.splice(0), [line]);
  await resealSecrets({ db, log, secrets: newer });
  assert.deepEqual(lines, []);
  const place = { owner: org_id, id: 'slack' };
  assert.equal(createSecrets([Buffer.alloc(32, 2)]).open(place, (await stored())!), address);
  await db`delete from slack_hooks where org_id = ${org_id}`;
});

test('webhook URL must be public, and owners can remove it', async () => {
  const { org_id, owner, page, bad } = await scene();
  const inside = await owner.post(`${page}/slack`, { url: 'https://127.0.0.1/x', events: 'held' });
  assert.equal(inside.status, 422);
  assert.match(await inside.text(), /id="url-error"/);
  const viewer = await memberBrowser(db, { app, org: org_id, role: 'viewer' });
  assert.doesNotMatch(await (await viewer.get(page)).text(), /incoming webhook/);
  await bad();
  await owner.post(`${page}/slack/remove`);
  assert.deepEqual((await run(200)).posts, []);
  assert.equal((await owner.post(`${page}/slack`, { events: 'held' })).status, 422);
  await owner.post(`${page}/slack/remove`);
  const acts = await db`select details from audit_events where org_id = ${org_id} order by id`;
  const removed = acts.filter(({ details }) => details.removed);
  assert.equal(removed.length, 1, 'what is not there is not removed');
});

test('changing the webhook URL needs a recent proof', async () => {
  const { owner, page, org_id } = await scene();
  await db`
    update sessions set proved_at = now() - interval '61 minutes'
    where member_id in (select member_id from memberships where org_id = ${org_id})`;
  const other = { url: 'https://8.8.4.4/services/T1/other', events: 'detractor' };
  const answer = await owner.post(`${page}/slack`, other);
  assert.equal(answer.status, 403);
  assert.match(await answer.text(), /href="\/account\/prove"/);
});

test("digest is posted once a day at 9 in the organization's zone", async () => {
  const { org_id, page, owner, bad } = await scene();
  await db`update organizations set time_zone = 'Europe/Oslo' where id = ${org_id}`;
  await owner.post(`${page}/slack`, { url: '', digest: 'day' });
  await db`update slack_hooks set changed_at = '2026-01-01' where org_id = ${org_id}`;
  await bad({ created_at: new Date('2026-03-01T12:00Z') });
  const bodies: string[][] = [];
  for (const time of ['07:59', '08:00', '08:10']) {
    await sweepDigests(taskTools(db), new Date(`2026-03-02T${time}Z`));
    bodies.push((await run(200)).posts.map(({ body }) => body));
  }
  assert.deepEqual(
    bodies.map((posts) => posts.length),
    [0, 1, 0],
  );
  assert.match(bodies[1]![0]!, /A &amp; B: 1 response, NPS −100/);
  assert.match(bodies[1]![0]!, /1 open detractor/);
});
