import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, test } from 'node:test';
import PostalMime from 'postal-mime';
import type { JobPayloads } from '../../src/jobs.ts';
import { one } from '../../src/lib/db/db.ts';
import { createLog } from '../../src/lib/log/log.ts';
import { readSmtpUrl } from '../../src/lib/smtp/settings.ts';
import { createSmtpPool } from '../../src/lib/smtp/smtp.ts';
import { eraseRows } from '../../src/people/erase.ts';
import {
  cleanUpReplies,
  markRepliesUnknownAfterRestore,
  sendReply,
} from '../../src/replies/reply.ts';
import { createMailer } from '../../src/sends/mail-job.ts';
import { closeConnection, type Script, scriptedSmtp } from '../support/fakes/smtp-server.ts';
import { makeClient, makeContact, makeResponse, makeSurvey } from '../support/make/rows.ts';
import { testApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';
import { memberBrowser } from '../support/probe/member.ts';

const { db } = await testDatabase();
const app = testApp(db);
const publicUrl = 'https://askback.test';

/** A response of Ada to an emailed survey, and a mail server that follows a script. */
async function scene(script: Script = {}) {
  const smtp = await scriptedSmtp(script);
  const pool = createSmtpPool(readSmtpUrl(`${smtp.url}?tls=none`).settings);
  after(() => pool.close());
  const settings = { concurrency: 1, dkim: null, bounceDomain: null };
  const mailer = createMailer({ transport: pool, publicUrl, ...settings });
  const tools = {
    ...{ db, mailer, log: createLog({ level: 'silent' }) },
    settings: { sendDeadlineSeconds: 20 },
    progress: { report: async () => {} },
  };
  const client = await makeClient(db);
  const org = client.id;
  const survey_id = await makeSurvey(db, org, {
    ...{ question_text: 'Happy, {{first_name|you}}?', from_name: 'Acme' },
    reply_to: 'help@acme.test',
  });
  const of = { org_id: org, survey_id };
  const email = `ada-${randomUUID().slice(0, 8)}@people.test`;
  const contact_id = await makeContact(db, of, { email, name: 'Ada Lovelace' });
  const mailed = { ...of, contact_id, email, request_id: randomUUID(), status: 'sent' };
  const mail = one(
    await db<{ id: string }[]>`
      insert into mails ${db({ ...mailed, month: '2026-03-01' })} returning id`,
  ).id;
  const response = await makeResponse(db, of, { contact_id, score: 2, category: 'detractor' });

  const post = async (body: object, { to = response, headers = client.write } = {}) => {
    const answer = await app.request(`/api/v1/responses/${to}/replies`, {
      method: 'POST',
      headers: { ...headers, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
    return { status: answer.status, body: (await answer.json()) as Answer };
  };
  const read = async () => {
    const answer = await app.request(`/api/v1/responses/${response}`, { headers: client.read });
    return ((await answer.json()) as { data: { state: string; replies: Reply[] } }).data;
  };
  const jobs = async () =>
    (
      await db<{ payload: JobPayloads['replies.send'] }[]>`
        select payload from test.jobs
        where task = 'replies.send' and payload ->> 'org_id' = ${org} order by id`
    ).map(({ payload }) => payload);
  /** Runs all jobs of the organization so far, as often as there are. */
  const work = async () => await Promise.all((await jobs()).map((job) => sendReply(tools, job)));
  const messages = () => Promise.all(smtp.seen.messages.map((text) => PostalMime.parse(text)));
  return {
    ...{ client, org, of, email, contact_id, mail, response, smtp },
    ...{ post, read, jobs, work, messages },
  };
}

type Reply = { id: string; status: string; reason: string | null; text: string; author: string };
type Answer = { data: Reply; code: string; error: string };

test('reply is an email in the thread of the survey email', async () => {
  const { email, mail, post, work, read, messages } = await scene();
  const text = 'Sorry, Ada <3\n\n.We fixed it.';
  const { status, body } = await post({ text });
  assert.deepEqual([status, body.data.status, body.data.text], [201, 'sending', text]);
  await work();
  const [message, ...others] = await messages();
  assert.equal(others.length, 0);
  const header = (key: string) => message!.headers.find((each) => each.key === key)?.value;
  assert.deepEqual(message!.from, { name: 'Acme', address: 'ann@acme.test' });
  assert.deepEqual(message!.to, [{ name: 'Ada Lovelace', address: email }]);
  assert.equal(message!.replyTo?.[0]?.address, 'help@acme.test');
  assert.equal(message!.subject, 'Re: Happy, Ada?');
  assert.equal(message!.text?.trim(), text);
  assert.match(message!.html ?? '', /Sorry, Ada &lt;3<br>/);
  assert.equal(message!.messageId, `<${body.data.id}@askback.test>`);
  assert.equal(message!.inReplyTo, `<${mail}@askback.test>`);
  assert.equal(message!.references, `<${mail}@askback.test>`);
  assert.equal(header('auto-submitted'), undefined);
  const { replies, state } = await read();
  assert.deepEqual(
    replies.map((reply) => [reply.status, reply.reason, reply.text]),
    [['sent', null, text]],
  );
  assert.equal(state, 'open');
});

test('reply to a person who got no survey email has no thread', async () => {
  const { of, post, work, messages } = await scene();
  const contact_id = await makeContact(db, of);
  await post({ text: 'Thanks' }, { to: await makeResponse(db, of, { contact_id }) });
  await work();
  assert.equal((await messages())[0]?.inReplyTo, undefined);
});

test("member's reply comes from the member and closes the response", async () => {
  const { org, response, read, work, messages } = await scene();
  const browser = await memberBrowser(db, { app, org, role: 'editor' });
  const path = `${browser.home}/responses/${response}`;
  const page = await (await browser.get(path)).text();
  assert.match(page, /Send reply/);
  const [, reply_id] = /name="reply_id" value="([^"]+)"/.exec(page)!;
  const form = { reply_id: reply_id!, reply: 'We call you.', done: 'on' };
  const posts = await Promise.all([1, 2, 3].map(() => browser.post(`${path}/replies`, form)));
  assert.deepEqual(
    posts.map(({ status }) => status),
    [303, 303, 303],
  );
  assert.equal((await read()).state, 'open');
  await work();
  const sent = await messages();
  assert.equal(sent.length, 1);
  const { replies, state } = await read();
  assert.equal(sent[0]!.from?.name, replies[0]!.author);
  assert.equal(sent[0]!.from?.address, 'ann@acme.test');
  assert.deepEqual([replies.length, state], [1, 'done']);
  const shown = await (await browser.get(path)).text();
  assert.match(shown, /We call you\./);
});

test('form of another response sends nothing', async () => {
  const [mine, other] = [await scene(), await scene()];
  const second = await makeResponse(db, mine.of, { contact_id: mine.contact_id, source: 'import' });
  const browser = await memberBrowser(db, { app, org: mine.org, role: 'editor' });
  const form = { reply_id: randomUUID(), reply: 'Hello' };
  const at = (id: string) => `${browser.home}/responses/${id}/replies`;
  assert.equal((await browser.post(at(mine.response), form)).status, 303);
  assert.equal((await browser.post(at(second), form)).status, 404);
  assert.equal((await browser.post(at(other.response), form)).status, 404);
  await mine.work();
  assert.equal(mine.smtp.seen.messages.length, 1);
});

test('reply without a text is refused on the field', async () => {
  const { org, response, post, jobs } = await scene();
  const browser = await memberBrowser(db, { app, org, role: 'editor' });
  const path = `${browser.home}/responses/${response}/replies`;
  const answer = await browser.post(path, { reply_id: randomUUID(), reply: ' ' });
  assert.equal(answer.status, 422);
  assert.match(await answer.text(), /id="reply-error"><i [^>]*><\/i>Write a reply\./);
  assert.equal((await post({ text: '  ' })).status, 400);
  assert.equal((await post({ text: 'x'.repeat(5001) })).status, 400);
  assert.deepEqual(await jobs(), []);
});

test('responses without an address and erased people get no reply', async () => {
  const { org, of, email, response, client, post, jobs } = await scene();
  const anonymous = await makeResponse(db, of, { source: 'share' });
  const codes = [(await post({ text: 'x' }, { to: anonymous })).body.code];
  assert.equal((await post({ text: 'x' }, { headers: client.read })).status, 403);
  assert.equal((await post({ text: 'x' }, { to: randomUUID() })).status, 404);
  const browser = await memberBrowser(db, { app, org, role: 'editor' });
  const page = await (await browser.get(`${browser.home}/responses/${anonymous}`)).text();
  assert.doesNotMatch(page, /Send reply|Reply by email/);
  await db`
    insert into erasures (org_id, address_hash, scores, counts)
    values (${org}, address_hash(${org}, ${email}), 'kept', '{}')`;
  codes.push((await post({ text: 'x' }, { to: response })).body.code);
  assert.deepEqual(codes, ['no_address', 'erased']);
  assert.deepEqual(await jobs(), []);
});

for (const [kind, by_hand, sentence] of [
  ['unsubscribed', false, /This person unsubscribed from surveys\. You can still reply/],
  ['unsubscribed', true, /A member blocked this person from surveys\. You can still reply/],
  ['bounced', false, /An email to this address bounced\./],
] as const) {
  test(`person who ${by_hand ? 'was blocked' : kind} can be replied to`, async () => {
    const { org, email, response, post, work, messages } = await scene();
    await db`insert into suppressions ${db({ org_id: org, email, kind, by_hand })}`;
    const browser = await memberBrowser(db, { app, org, role: 'editor' });
    const page = await (await browser.get(`${browser.home}/responses/${response}`)).text();
    assert.match(page, sentence);
    await post({ text: 'Thanks' });
    await work();
    assert.equal((await messages()).length, 1);
  });
}

test('rejected reply fails, and an unknown mailbox is blocked', async () => {
  const { org, post, work, read } = await scene({ RCPT: '550 5.1.1 no such user' });
  await post({ text: 'Thanks' });
  await work();
  const [reply] = (await read()).replies;
  assert.equal(reply!.status, 'failed');
  assert.match(reply!.reason!, /no such user/);
  const kinds = await db<{ kind: string }[]>`select kind from suppressions where org_id = ${org}`;
  assert.deepEqual(
    kinds.map(({ kind }) => kind),
    ['bounced'],
  );
});

test('reply that the server accepts later is sent once', async () => {
  let busy = true;
  const { post, work, read, jobs, messages } = await scene({
    MAIL: () => (busy ? '451 4.3.0 later' : '250 ok'),
  });
  await post({ text: 'Thanks' });
  await work();
  assert.match((await read()).replies[0]!.reason!, /451|later/);
  assert.equal((await read()).replies[0]!.status, 'sending');
  assert.equal((await jobs()).length, 2);
  busy = false;
  await work();
  await work();
  assert.deepEqual([(await messages()).length, (await read()).replies[0]!.status], [1, 'sent']);
});

test('reply is unknown when the server vanishes after the message', async () => {
  const { post, work, read, messages } = await scene({ dot: closeConnection });
  await post({ text: 'Thanks' });
  await work();
  assert.equal((await read()).replies[0]!.status, 'unknown');
  await work();
  assert.equal((await messages()).length, 1);
});

test('reply that a dead process began is unknown and not sent again', async () => {
  const { post, work, read, smtp } = await scene();
  const { body } = await post({ text: 'Thanks' });
  await db`update replies set status = 'sending', attempts = 1 where id = ${body.data.id}`;
  await work();
  assert.equal((await read()).replies[0]!.status, 'unknown');
  assert.equal(smtp.seen.messages.length, 0);
});

test('two runs of a job send one email', async () => {
  const { post, work, jobs, smtp, read } = await scene();
  await post({ text: 'Thanks' });
  assert.equal((await jobs()).length, 1);
  await Promise.all([work(), work(), work()]);
  assert.equal(smtp.seen.messages.length, 1);
  assert.equal((await read()).replies[0]!.status, 'sent');
});

test('person who is erased before the email leaves gets none', async () => {
  const { org, email, post, work, smtp } = await scene();
  await post({ text: `Write to ${email}` });
  const copies = { answers: [], messages: [] };
  const counts = await db.begin((tx) =>
    eraseRows(tx as never, org, { key: email, hash: 'x', scores: 'kept', copies, before: null }),
  );
  assert.equal(counts.replies, 1);
  await work();
  assert.equal(smtp.seen.messages.length, 0);
  assert.equal((await db`select from replies where org_id = ${org}`).length, 0);
});

test('erasure hides the address in replies to other people', async () => {
  const { of, org, post } = await scene();
  const ada = 'other-ada@people.test';
  await makeContact(db, of, { email: ada });
  await post({ text: `Ask ${ada}.` });
  const copies = { answers: [], messages: [] };
  await db.begin((tx) =>
    eraseRows(tx as never, org, { key: ada, hash: 'x', scores: 'kept', copies, before: null }),
  );
  const [row] = await db<{ text: string }[]>`select text from replies where org_id = ${org}`;
  assert.equal(row!.text, 'Ask [email].');
});

test("person's history and page show the reply and its outcome", async () => {
  const { org, email, contact_id, client, post, work } = await scene();
  const { body } = await post({ text: 'We fixed it' });
  await work();
  const answer = await app.request(`/api/v1/people/${email}`, { headers: client.read });
  const { data } = (await answer.json()) as { data: { events: Record<string, unknown>[] } };
  const event = data.events.find(({ what }) => what === 'replied');
  assert.deepEqual(
    [event?.['reason'], event?.['message_id']],
    ['write: We fixed it', `${body.data.id}@askback.test`],
  );
  const browser = await memberBrowser(db, { app, org, role: 'viewer' });
  const page = await (await browser.get(`${browser.home}/people/${contact_id}`)).text();
  assert.match(page, /Reply sent/);
  assert.match(page, /We fixed it/);
});

test('replies end when no job sends them any more', async () => {
  const { org, post, work, smtp } = await scene();
  const ids = await Promise.all(
    ['a', 'b', 'c'].map(async (text) => (await post({ text })).body.data.id),
  );
  await db`update replies set created_at = now() - interval '26 hours' where id = any (${ids.slice(0, 2)})`;
  await db`update replies set status = 'sending', attempts = 1 where id = ${ids[1]!}`;
  await cleanUpReplies({ db });
  const statuses = async () =>
    (
      await db<{ status: string }[]>`select status from replies where org_id = ${org} order by text`
    ).map(({ status }) => status);
  assert.deepEqual(await statuses(), ['failed', 'unknown', 'claimed']);
  await db.begin((tx) => markRepliesUnknownAfterRestore(tx as never));
  assert.deepEqual(await statuses(), ['failed', 'unknown', 'unknown']);
  await work();
  assert.equal(smtp.seen.messages.length, 0);
});
