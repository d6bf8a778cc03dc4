import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addDeliveries } from '../support/make/delivery-rows.ts';
import {
  makeContact,
  makeOrganization,
  makeResponse,
  makeSurvey,
  makeWebhook,
} from '../support/make/rows.ts';
import { bareApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';
import { memberBrowser } from '../support/probe/member.ts';

const { db } = await testDatabase();
const app = bareApp(db);
const minutesAgo = (n: number) => new Date(Date.now() - n * 60_000);

/** What a reader sees of each step, newest first: the mark, if it is not as it should be, and the words. */
const shown = [
  ['is-failed', 'Bounced: the mailbox does not exist'],
  ['is-warning', 'Suppressed or unsubscribed'],
  ['is-skipped', 'Blocked'],
  ['', 'Delivered to a webhook'],
  ['is-waiting', 'Answered, held'],
  ['is-failed', 'Not delivered to a webhook'],
  ['is-skipped', 'Not delivered: the webhook was off'],
  ['is-waiting', 'Waits to be delivered to a webhook'],
  ['', 'Answered'],
  ['', 'Opened the link'],
  ['is-warning', 'Outcome unknown'],
  ['is-failed', 'Not sent'],
  ['', 'Reminded'],
  ['', 'Sent'],
  ['is-waiting', 'Is being sent'],
  ['is-waiting', 'Waits to be sent'],
  ...Array.from({ length: 8 }, () => ['', 'Added to the survey']),
];

test('each step of a person has its words and its mark, newest first', async () => {
  const org_id = await makeOrganization(db);
  const email = 'eve@people.test';
  const times = Array.from({ length: 20 }, (_, n) => minutesAgo(100 - n));
  const next = () => times.shift()!;
  /** A survey of its own, with the person as its contact. */
  const asked = async () => {
    const of = { org_id, survey_id: await makeSurvey(db, org_id) };
    return { of, contact_id: await makeContact(db, of, { email, created_at: minutesAgo(200) }) };
  };
  for (const [status, reminder] of [
    ['claimed', 0],
    ['sending', 0],
    ['sent', 0],
    ['sent', 1],
    ['failed', 0],
    ['unknown', 0],
  ] as const) {
    const { of, contact_id } = await asked();
    const own = { ...of, contact_id, email, month: '2026-03-01', claimed_at: next() };
    const reminds_of = reminder ? contact_id : null;
    const made = { request_id: contact_id, blocks_resend: status !== 'failed' };
    await db`insert into mails ${db({ ...own, ...made, status, reminder, reminds_of })}`;
  }
  const { of, contact_id } = await asked();
  const visit = { ...of, contact_id, method: 'GET', kind: 'view', visited_at: next() };
  await db`insert into link_visits ${db(visit)}`;
  const created_at = next();
  const id = await makeResponse(db, of, { contact_id, created_at });
  const other = await asked();
  const held = { contact_id: other.contact_id, created_at: next(), held_reason: 'scanner' };
  await makeResponse(db, other.of, held);
  const webhook_id = await makeWebhook(db, org_id);
  const body = JSON.stringify({ id });
  for (const [n, status] of ['pending', 'skipped', 'failed'].entries()) {
    const later = new Date(created_at.getTime() + 1000 * (n + 1));
    await addDeliveries(db, { org_id, webhook_id, status, body, created_at: later });
  }
  const delivered = { org_id, webhook_id, status: 'delivered', body };
  await addDeliveries(db, { ...delivered, created_at, delivered_at: next() });
  const blocked = { ...of, email, reason_code: 'frequency', reason: 'asked a week ago' };
  await db`insert into blocked_mails ${db({ ...blocked, blocked_at: next() })}`;
  for (const kind of ['unsubscribed', 'bounced']) {
    await db`insert into suppressions ${db({ org_id, email, kind, created_at: next() })}`;
  }

  const { get, home } = await memberBrowser(db, { app, org: org_id, role: 'viewer' });
  const page = await (await get(`${home}/people/${contact_id}`)).text();
  const rows = [...page.matchAll(/<tr>(?:(?!<\/tr>).)*<\/tr>/gs)].map(([row]) => row);
  const words = shown.map(([, text]) => text!).sort((one, other) => other.length - one.length);
  const found = rows.flatMap((row) => {
    const text = words.find((each) => row.includes(`>${each}<`));
    const [, mark = ''] = /class="state (is-\w+)"/.exec(row) ?? [];
    return text ? [[mark, text]] : [];
  });
  assert.deepEqual(found, shown);
});
