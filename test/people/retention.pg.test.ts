import assert from 'node:assert/strict';
import { test } from 'node:test';
import { saveContacts } from '../../src/contacts/queries.ts';
import { json } from '../../src/lib/db/db.ts';
import { applyRetention } from '../../src/people/retention.ts';
import { lockForContacts } from '../../src/surveys/lifecycle.ts';
import { makeContact, makeOrganization, makeResponse, makeSurvey } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';
import { untilLockWaits } from '../support/probe/locks.ts';
import { assertTalliesHold } from '../support/probe/tallies.ts';

const { db } = await testDatabase();
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const days = 30;
/** Ages just above and just below the retention. */
const ages = {
  old: new Date(Date.now() - days * dayMs - hourMs),
  young: new Date(Date.now() - days * dayMs + hourMs),
};
const everyAge = Object.entries(ages) as ['old' | 'young', Date][];

async function scene(keep: Record<string, unknown>, over: Record<string, unknown> = {}) {
  const org = await makeOrganization(db, keep);
  const of = { org_id: org, survey_id: await makeSurvey(db, org, over) };
  const acts = async () =>
    (
      await db`select details from audit_events where org_id = ${org} and act = 'retention.applied'`
    ).map(({ details }) => details as unknown);
  return { org, of, acts };
}

const none = { comments: 0, replies: 0, contacts: 0, people: 0, openings: 0, mails: 0 };

test('retention deletes comments and keeps scores', async () => {
  const { org, of, acts } = await scene({ keep_comments_days: days });
  for (const held_reason of [null, 'scores_opened']) {
    for (const [comment, created_at] of everyAge) {
      const id = await makeResponse(db, of, { comment, created_at, held_reason });
      await db`insert into analyses (org_id, response_id, provider) values (${org}, ${id}, 'test')`;
      await db`
        insert into response_notes (org_id, response_id, text, author, author_kind)
        values (${org}, ${id}, 'a note', 'Ann', 'member')`;
    }
  }
  const silent = await makeResponse(db, of);
  for (const [text, created_at] of everyAge) {
    const reply = { org_id: org, response_id: silent, text, author: 'Ann', author_kind: 'member' };
    await db`insert into replies ${db({ ...reply, created_at })}`;
  }
  await applyRetention({ db });
  const replies = await db<{ text: string }[]>`select text from replies where org_id = ${org}`;
  assert.deepEqual(
    replies.map(({ text }) => text),
    ['young'],
  );
  await db`delete from responses where org_id = ${org} and id = ${silent}`;
  const left = await db`
    select comment, (select count(*)::int from analyses where response_id = r.id) as analyses,
           (select count(*)::int from response_notes where response_id = r.id) as notes
    from responses r where org_id = ${org} order by comment nulls last`;
  const kept = { comment: 'young', analyses: 1, notes: 1 };
  const emptied = { comment: null, analyses: 0, notes: 0 };
  assert.deepEqual(
    left.map((row) => ({ ...row })),
    [kept, kept, emptied, emptied],
  );
  assert.deepEqual(await acts(), [{ ...none, comments: 2, replies: 1 }]);
  await applyRetention({ db });
  assert.equal((await acts()).length, 1);
  await assertTalliesHold(db);
});

test('retention deletes an inactive contact and keeps its score', async () => {
  const { org, of, acts } = await scene({ keep_contacts_days: days });
  const made = async (name: string, over: Record<string, unknown> = {}) =>
    await makeContact(db, of, { name, created_at: ages.old, updated_at: ages.old, ...over });
  const answered = await made('answered', { responded_at: ages.old });
  await makeResponse(db, of, { contact_id: answered, created_at: ages.old, comment: 'old words' });
  await made('idle');
  await made('young', { created_at: ages.young, updated_at: ages.young });
  await made('changed', { updated_at: ages.young });
  const opened = await made('opened');
  await db`
    insert into link_visits (org_id, survey_id, contact_id, kind, method, visited_at)
    values (${org}, ${of.survey_id}, ${opened}, 'view', 'GET', ${ages.young})`;
  const mailed = await made('waiting');
  await db`
    insert into mails (org_id, survey_id, contact_id, request_id, email, month, claimed_at)
    values (${org}, ${of.survey_id}, ${mailed}, gen_random_uuid(), 'a@people.test', '2026-01-01', ${ages.old})`;
  const failed = await made('failed lately');
  await db`
    insert into mails (org_id, survey_id, contact_id, request_id, email, month, claimed_at, finished_at, status,
                       blocks_resend)
    values (${org}, ${of.survey_id}, ${failed}, gen_random_uuid(), 'b@people.test', '2026-01-01', ${ages.old},
            ${ages.young}, 'failed', false)`;
  await applyRetention({ db });
  const left = await db`select name from contacts where org_id = ${org} order by name`;
  assert.deepEqual(
    left.map(({ name }) => name),
    ['changed', 'failed lately', 'opened', 'waiting', 'young'],
  );
  const responses =
    await db`select contact_id, comment, score from responses where org_id = ${org}`;
  assert.deepEqual([...responses], [{ contact_id: null, comment: null, score: 10 }]);
  assert.deepEqual(await acts(), [{ ...none, contacts: 2, people: 2 }]);
  await assertTalliesHold(db);
});

test('retention keeps a contact in rounds until its next round is due', async () => {
  const everyDays = 60;
  const { org, of } = await scene(
    { keep_contacts_days: days },
    {
      repeat: json(db, { every_days: everyDays, audience: 'people', per_day: null, spread: true }),
      repeat_since: new Date('2020-01-01'),
    },
  );
  const asked = async (name: string, daysAgo: number, over: Record<string, unknown> = {}) => {
    const at = new Date(Date.now() - daysAgo * dayMs);
    const times = { created_at: at, updated_at: at, sent_at: at };
    return await makeContact(db, of, { name, status: 'sent', ...times, ...over });
  };
  await asked('waits', days + everyDays - 1);
  await asked('left the audience', days + everyDays + 1);
  await asked('ended', days + 1, { superseded: true });
  await applyRetention({ db });
  const left = await db`select name from contacts where org_id = ${org}`;
  assert.deepEqual(
    left.map(({ name }) => name),
    ['waits'],
  );
});

test('survey completes when retention deletes its open contacts', async () => {
  const { org, of } = await scene({ keep_contacts_days: days });
  const made = { created_at: ages.old, updated_at: ages.old };
  const answered = { ...made, status: 'responded', responded_at: ages.young };
  const contact_id = await makeContact(db, of, { ...answered, name: 'answered' });
  await makeResponse(db, of, { contact_id, created_at: ages.young });
  await makeContact(db, of, { ...made, name: 'idle' });
  await applyRetention({ db });
  const left = await db`select name from contacts where org_id = ${org}`;
  assert.deepEqual([...left], [{ name: 'answered' }]);
  const [survey] = await db`select status, completed_by from surveys where id = ${of.survey_id}`;
  assert.deepEqual({ ...survey }, { status: 'completed', completed_by: 'answers' });
});

test('retention locks surveys before contacts', async () => {
  const { org, of } = await scene({ keep_contacts_days: days });
  await makeContact(db, of, { created_at: ages.old, updated_at: ages.old });
  let running: Promise<unknown> | undefined;
  await db.begin(async (tx) => {
    await tx`select from surveys where id = ${of.survey_id} for update`;
    running = applyRetention({ db });
    await untilLockWaits(db);
    // A contact that is locked already would cause a deadlock.
    await tx`select from contacts where org_id = ${org} for update nowait`;
  });
  await running;
  // The locked contact is deleted by this run or the next.
  await applyRetention({ db });
  assert.equal((await db`select from contacts where org_id = ${org}`).length, 0);
});

test('retention keeps the person of a contact that is being added', async () => {
  const { org, of } = await scene({ keep_contacts_days: days });
  const email = 'ada@people.test';
  const at = ages.old;
  await db`insert into people ${db({ org_id: org, email, created_at: at, updated_at: at })}`;
  let running: Promise<unknown> | undefined;
  await db.begin(async (tx) => {
    const survey = { orgId: org, surveyId: of.survey_id };
    await lockForContacts(tx, survey);
    await saveContacts(tx, survey, [{ email, name: null, properties: {} }]);
    running = applyRetention({ db });
    await Promise.race([running, untilLockWaits(db)]);
  });
  await running;
  assert.equal((await db`select from people where org_id = ${org}`).length, 1);
});

test('retention deletes visits', async () => {
  const { org, of, acts } = await scene({ keep_openings_days: days });
  const contact = await makeContact(db, of);
  for (const [, visited_at] of everyAge) {
    await db`
      insert into link_visits (org_id, survey_id, contact_id, kind, method, visited_at)
      values (${org}, ${of.survey_id}, ${contact}, 'view', 'GET', ${visited_at})`;
  }
  await applyRetention({ db });
  const left = await db`select visited_at from link_visits where org_id = ${org}`;
  assert.deepEqual(
    left.map(({ visited_at }) => visited_at as Date),
    [ages.young],
  );
  assert.deepEqual(await acts(), [{ ...none, openings: 1 }]);
});

async function mailsLeft(
  keep: Record<string, unknown>,
  mails: Record<string, unknown>[],
  over: Record<string, unknown> = {},
) {
  const { org, of, acts } = await scene(keep, over);
  for (const mail of mails) {
    const contact_id = await makeContact(db, of, { sent_at: ages.old });
    const row = {
      ...of,
      contact_id,
      request_id: contact_id,
      email: 'a@people.test',
      month: '2026-01-01',
      status: 'sent',
      claimed_at: ages.old,
      finished_at: ages.old,
      blocks_resend: mail['status'] !== 'failed',
      ...mail,
    };
    await db`insert into mails ${db({ ...row, email: `${contact_id}@people.test` })}`;
  }
  await applyRetention({ db });
  const left = await db`select reason from mails where org_id = ${org} order by reason`;
  return { left: left.map(({ reason }) => reason as string), acts: await acts() };
}

test('retention deletes mails except the ones that block a second mail', async () => {
  const { left, acts } = await mailsLeft({ keep_mails_days: days }, [
    { reason: 'old' },
    { reason: 'old failed', status: 'failed' },
    { reason: 'unknown', status: 'unknown' },
    { reason: 'young', claimed_at: ages.young, finished_at: ages.young },
  ]);
  assert.deepEqual(left, ['unknown', 'young']);
  assert.deepEqual(acts, [{ ...none, mails: 2 }]);
});

test('retention keeps mails for 61 days if the survey has reminders', async () => {
  const ago = (ms: number) => new Date(Date.now() - 61 * dayMs - ms);
  const mails = [hourMs, -hourMs].map((ms) => ({
    reason: ms > 0 ? 'older' : 'younger',
    claimed_at: ago(ms),
    finished_at: ago(ms),
  }));
  const reminders = json(db, [{ after_days: 3, subject: null }]);
  const { left } = await mailsLeft({ keep_mails_days: days }, mails, { reminders });
  assert.deepEqual(left, ['younger']);
});

test('retention keeps mails as long as the frequency rule needs them', async () => {
  const { left, acts } = await mailsLeft({ keep_mails_days: days, frequency_days: days + 1 }, [
    { reason: 'old' },
  ]);
  assert.deepEqual(left, ['old']);
  assert.deepEqual(acts, []);
});

test('organization without retention keeps everything', async () => {
  const { org, of, acts } = await scene({});
  const old = { created_at: new Date('2020-01-01'), updated_at: new Date('2020-01-01') };
  const contact_id = await makeContact(db, of, old);
  await makeResponse(db, of, { contact_id, comment: 'kept', created_at: old.created_at });
  await applyRetention({ db });
  const [left] = await db`select comment, contact_id from responses where org_id = ${org}`;
  assert.deepEqual({ ...left }, { comment: 'kept', contact_id });
  assert.deepEqual(await acts(), []);
});

test('retention deletes several batches in one run', async () => {
  const { org, of, acts } = await scene({
    keep_comments_days: days,
    keep_contacts_days: days,
    keep_mails_days: days,
  });
  const { survey_id } = of;
  await db`
    insert into responses (org_id, survey_id, score, category, comment, created_at)
    select ${org}, ${survey_id}, 10, 'promoter', 'words', ${ages.old} from generate_series(1, 401)`;
  await db`
    insert into contacts (org_id, survey_id, email, token, created_at, updated_at)
    select ${org}, ${survey_id}, n || '@people.test', gen_random_uuid(), ${ages.old}, ${ages.old}
    from generate_series(1, 401) n`;
  const young = { created_at: ages.young, updated_at: ages.young };
  const contact_id = await makeContact(db, of, young);
  await makeResponse(db, of, { created_at: ages.young, comment: 'young' });
  await db`
    insert into mails (org_id, survey_id, contact_id, request_id, email, month, status, blocks_resend, claimed_at, finished_at)
    select ${org}, ${survey_id}, ${contact_id}, gen_random_uuid(), 'a@people.test', '2026-01-01', 'failed', false,
           ${ages.old}, ${ages.old}
    from generate_series(1, 1001)`;
  await applyRetention({ db });
  const [left] = await db`
    select (select count(*)::int from responses where org_id = ${org} and comment is not null) as comments,
           (select count(*)::int from contacts where org_id = ${org}) as contacts,
           (select count(*)::int from mails where org_id = ${org}) as mails`;
  assert.deepEqual({ ...left }, { comments: 1, contacts: 1, mails: 0 });
  assert.deepEqual(await acts(), [{ ...none, comments: 401, contacts: 401, mails: 1001 }]);
  await assertTalliesHold(db);
});

test('retention erases texts of old events that respondents removed later', async () => {
  const { org } = await scene({ keep_comments_days: days });
  for (const [age, at] of everyAge) {
    const body = JSON.stringify({ age, answers: [{ kind: 'text', value: 'Call me' }] });
    await db`
      insert into events (org_id, id, type, body) values (${org}, id_at(${at}), 'response.completed', ${body})`;
  }
  await applyRetention({ db });
  const bodies = await db<{ body: string }[]>`
    select body from events where org_id = ${org} order by id`;
  assert.deepEqual(
    bodies.map(({ body }) => (body === '' ? '' : JSON.parse(body).age)),
    ['', 'young'],
  );
});
