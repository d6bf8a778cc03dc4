import assert from 'node:assert/strict';
import { test } from 'node:test';
import { redactedExcerpt } from '../../src/lib/redact/redact.ts';
import { releaseResponse } from '../../src/responses/release.ts';
import {
  makeContact,
  makeOrganization,
  makeResponse,
  makeSurvey,
  writeKeyOf,
} from '../support/make/rows.ts';
import { bareApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';
import { untilLockWaits } from '../support/probe/locks.ts';
import { memberBrowser } from '../support/probe/member.ts';

const { db } = await testDatabase();
const app = bareApp(db);

async function inbox() {
  const org = await makeOrganization(db);
  const of = { org_id: org, survey_id: await makeSurvey(db, org) };
  const browser = await memberBrowser(db, { app, org, role: 'editor' });
  const list = `${browser.home}/responses`;
  const page = async (query: string) => await (await browser.get(`${list}${query}`)).text();
  const respond = () => makeResponse(db, of);
  const hold = () => makeResponse(db, of, { held_reason: 'scores_opened' });
  return { org, of, ...browser, list, page, respond, hold };
}

test('bulk release skips other responses and other organizations', async () => {
  const { org, list, page, submit, hold, respond } = await inbox();
  const theirs = await (await inbox()).hold();
  const id = [await hold(), await hold(), await respond(), theirs];
  const stays = await hold();
  assert.doesNotMatch(await page('?held=false'), /value="release"/);
  assert.match(await page('?held=true'), /value="release"/);
  const query = 'held=true';
  const answer = await submit(`${list}/chosen`, { id, do: 'release', query });
  assert.match(await answer.text(), /2 responses released/);
  const left = await db`select id from responses where held_reason is not null order by id`;
  assert.deepEqual(
    left.map((row) => row['id']).filter((each) => [...id, stays].includes(each)),
    [theirs, stays].sort(),
  );
  const acts = await db`
    select act, target_id from audit_events where org_id = ${org} order by target_id`;
  assert.deepEqual(
    acts.map(({ act, target_id: target }) => [act, target]),
    [id[0]!, id[1]!].sort().map((each) => ['response.released', each]),
  );
  const again = await submit(`${list}/chosen`, { id, do: 'release', query });
  assert.match(await again.text(), /None of the selected responses is on hold/);
});

test('a response released twice counts once', async () => {
  const { list, submit, post, hold } = await inbox();
  const id = await hold();
  assert.match(await (await submit(`${list}/${id}/release`)).text(), /Response released/);
  assert.match(await (await submit(`${list}/${id}/release`)).text(), /already released/);
  const unknown = '00000000-0000-4000-8000-000000000000';
  assert.equal((await post(`${list}/${unknown}/release`, {})).status, 404);
});

test('concurrent releases of the last responses complete the survey', async () => {
  const { org, of } = await inbox();
  const writer = writeKeyOf(org);
  const held = await Promise.all(
    [1, 2].map(async () => {
      const contact_id = await makeContact(db, of, { status: 'sent' });
      return await makeResponse(db, of, { contact_id, source: 'link', held_reason: 'hidden_link' });
    }),
  );
  const holder = await db.reserve();
  await holder`begin`;
  await holder`select from surveys where id = ${of.survey_id} for update`;
  const tools = { db, excerpt: redactedExcerpt };
  const released = Promise.all(held.map((id) => releaseResponse(tools, writer, id)));
  await untilLockWaits(db, 2);
  const free = await holder`select from responses where id in ${holder(held)} for update nowait`;
  assert.equal(free.length, 2);
  await holder`commit`;
  holder.release();
  await released;
  const [survey] = await db`select status, completed_by from surveys where id = ${of.survey_id}`;
  assert.deepEqual({ ...survey }, { status: 'completed', completed_by: 'answers' });
});
