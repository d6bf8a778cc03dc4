import assert from 'node:assert/strict';
import { test } from 'node:test';
import { applyRetention } from '../../src/people/retention.ts';
import { makeOrganization, makeSurvey } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();
const days = 30;

async function scene(keep_mails_days: number | null) {
  const org_id = await makeOrganization(db, { keep_mails_days });
  return { org_id, survey_id: await makeSurvey(db, org_id) };
}

test('retention deletes blocked mails of one organization and day', async () => {
  const [ours, theirs] = [await scene(days), await scene(null)];
  for (const { org_id, survey_id } of [ours, theirs]) {
    await db`
      insert into blocked_mails (org_id, survey_id, email, reason_code, reason, blocked_on)
      select ${org_id}, ${survey_id}, 'ann@people.test', 'frequency', 'asked', (now() at time zone 'UTC')::date - ago
      from unnest('{0,29,30,31,90,105}'::int[]) ago`;
  }
  const left = async ({ org_id }: typeof ours) =>
    (
      await db<{ ago: number }[]>`
        select (now() at time zone 'UTC')::date - blocked_on as ago
        from blocked_mails where org_id = ${org_id} order by 1`
    ).map(({ ago }) => ago);
  await applyRetention({ db });
  assert.deepEqual(await left(ours), [0, 29]);
  assert.deepEqual(await left(theirs), [0, 29, 30, 31, 90, 105]);
  const acts = await db`
    select details from audit_events where org_id = ${ours.org_id} and act = 'retention.applied'`;
  assert.deepEqual(
    acts.map(({ details }) => details as unknown),
    [{ comments: 0, replies: 0, contacts: 0, people: 0, openings: 0, mails: 4 }],
  );
});

/** A campaign with results of the given number of contacts. */
async function campaign(of: { org_id: string; survey_id: string }, over: object, many = 2) {
  const row = { ...of, name: 'Round', status: 'finished', ...over };
  const [made] = await db<{ id: string }[]>`insert into campaigns ${db(row)} returning id`;
  const { id } = made!;
  await db`
    with made as (
      insert into contacts (org_id, survey_id, email, token)
      select ${of.org_id}, ${of.survey_id}, ${id} || n || '@people.test', gen_random_uuid()
      from generate_series(1, ${many}) n
      returning id
    )
    insert into campaign_contacts (org_id, survey_id, campaign_id, contact_id)
    select ${of.org_id}, ${of.survey_id}, ${id}, id from made`;
  return id;
}

test('retention deletes campaign results and keeps the campaign', async () => {
  const [ours, theirs] = [await scene(days), await scene(null)];
  const ended = (minutes: number) => ({
    finished_at: new Date(Date.now() - (days * 24 * 60 + minutes) * 60_000),
  });
  const old = [await campaign(ours, ended(1), 1001), await campaign(ours, ended(2))];
  const kept = [
    await campaign(ours, ended(-1)),
    await campaign(ours, { status: 'running', finished_at: null }),
    await campaign(ours, { ...ended(1), kind: 'asking' }),
    await campaign(theirs, ended(1)),
  ];
  const uncounted = await campaign(ours, ended(1));
  await db`
    insert into campaign_batches (id, org_id, campaign_id, mails)
    values (gen_random_uuid(), ${ours.org_id}, ${uncounted}, 2)`;
  await applyRetention({ db });
  const left = await db<{ id: string; results: number }[]>`
    select g.id, count(c.id)::int as results
    from campaigns g left join campaign_contacts c on c.campaign_id = g.id
    where g.org_id in (${ours.org_id}, ${theirs.org_id})
    group by g.id`;
  assert.deepEqual(
    new Map(left.map(({ id, results }) => [id, results])),
    new Map([
      ...old.map((id) => [id, 0] as const),
      ...[...kept, uncounted].map((id) => [id, 2] as const),
    ]),
  );
});
