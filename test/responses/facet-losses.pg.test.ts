import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import type { NewResponse } from '../../src/responses/answer.queries.ts';
import { createAnswerRecorder } from '../../src/responses/answer.ts';
import type { Facet } from '../../src/responses/facets.cte.ts';
import { readNps } from '../../src/responses/nps.ts';
import { everything } from '../../src/responses/scope.cte.ts';
import { foldTallies } from '../../src/surveys/queries.ts';
import { makeOrganization, makeSurvey } from '../support/make/rows.ts';
import { makeTwins, type Twin } from '../support/make/twins.ts';
import { testDatabase } from '../support/probe/database.ts';
import { assertTalliesHold } from '../support/probe/tallies.ts';

const { db } = await testDatabase();
const day = '2024-03-04';
const many = 60;

/** A day on which so many responses have the same property, tag and sentiment that figures of these are kept. */
async function makeScene() {
  const org = await makeOrganization(db);
  const survey = await makeSurvey(db, org);
  await db`
    with people as (
      insert into contacts (org_id, survey_id, email, token, properties)
      select ${org}, ${survey}, n || '@people.test', gen_random_uuid(), '{"source": "shop"}'
      from generate_series(1, ${many}::int) n
      returning id
    )
    insert into responses (org_id, survey_id, contact_id, score, category, created_at)
    select ${org}, ${survey}, id, 10, 'promoter', ${day}::timestamp at time zone 'UTC' + row_number() over () * interval '20 minutes'
    from people`;
  const [tag] = await db<{ id: string }[]>`
    insert into tags (org_id, name, color) values (${org}, 'urgent', '#ffffff') returning id`;
  await db`
    insert into response_tags (org_id, response_id, tag_id)
    select ${org}, id, ${tag!.id} from responses where org_id = ${org}`;
  await db`
    insert into analyses (org_id, response_id, sentiment, provider)
    select ${org}, id, 'negative', 'test' from responses where org_id = ${org}`;
  return { org, survey, tag: tag!.id };
}

type Scene = Awaited<ReturnType<typeof makeScene>>;

const keptOf = async (org: string) =>
  (await db`select from facet_day_tallies where org_id = ${org} and day = ${day}`).length;

/** A third of the responses. */
const third = ({ org }: Scene) => db`
  select id from (select id, row_number() over (order by created_at) as n from responses where org_id = ${org}) r
  where n % 3 = 0`;

type Change = (scene: Scene) => unknown;

const ofTag = ({ tag }: Scene): Facet => ({ kind: 'tag', name: '', value: tag });
const ofSentiment = (): Facet => ({ kind: 'sentiment', name: '', value: 'negative' });
const ofProperty = (): Facet => ({ kind: 'property', name: 'source', value: 'shop' });
const setSentiment = (scene: Scene, sentiment: string) => db`
  update analyses set sentiment = ${sentiment}
  where org_id = ${scene.org} and response_id in (${third(scene)})`;
const setProperties = (scene: Scene, properties: Record<string, string>) => db`
  update contacts set properties = ${db.json(properties)}
  where id in (select contact_id from responses where id in (${third(scene)}))`;
const setHold = (scene: Scene, reason: string | null) => db`
  update responses set held_reason = ${reason}
  where org_id = ${scene.org} and id in (${third(scene)})`;

/** What a third of the responses have, and what takes it from them and gives it back. */
const losses: Record<string, { facet: (scene: Scene) => Facet; lose: Change; regain: Change }> = {
  tag: {
    facet: ofTag,
    lose: (scene) => db`
      delete from response_tags where org_id = ${scene.org} and response_id in (${third(scene)})`,
    regain: (scene) => db`
      insert into response_tags (org_id, response_id, tag_id)
      select ${scene.org}, id, ${scene.tag} from (${third(scene)}) lost`,
  },
  sentiment: {
    facet: ofSentiment,
    lose: (scene) => setSentiment(scene, 'positive'),
    regain: (scene) => setSentiment(scene, 'negative'),
  },
  analysis: {
    facet: ofSentiment,
    lose: (scene) => db`
      delete from analyses where org_id = ${scene.org} and response_id in (${third(scene)})`,
    regain: (scene) => db`
      insert into analyses (org_id, response_id, sentiment, provider)
      select ${scene.org}, id, 'negative', 'test' from (${third(scene)}) lost`,
  },
  property: {
    facet: ofProperty,
    lose: (scene) => setProperties(scene, {}),
    regain: (scene) => setProperties(scene, { source: 'shop' }),
  },
  'property in a response that counts': {
    facet: ofProperty,
    lose: (scene) => setHold(scene, 'by hand'),
    regain: (scene) => setHold(scene, null),
  },
};

for (const [what, { facet, lose, regain }] of Object.entries(losses)) {
  test(`a ${what} that a third of many responses lose and have again counts, before and after the next count`, async () => {
    const scene = await makeScene();
    const count = async () => {
      const scope = { ...everything, facets: [facet(scene)] };
      return (await readNps(db, scene.org, scope)).promoters;
    };
    await foldTallies(db);
    assert.equal(await count(), many);
    for (const [change, left] of [
      [lose, (many * 2) / 3],
      [regain, many],
    ] as const) {
      assert.ok((await keptOf(scene.org)) > 0);
      await change(scene);
      assert.equal(await count(), left);
      await foldTallies(db);
      assert.equal(await count(), left);
    }
  });
}

const record = createAnswerRecorder(db);

/** An answer to the scene's survey on its day, as from a page that was open for long. */
const answer = ({ org, survey }: Scene, hour: number) => {
  const response: NewResponse = {
    id: randomUUID(),
    org_id: org,
    survey_id: survey,
    contact_id: null,
    score: 1,
    source: 'share',
    category: 'detractor',
    comment: null,
    held_reason: null,
    traceparent: null,
    type: 'nps',
    language: 'en',
    properties: null,
    created_at: new Date(`${day}T${hour}:10:00Z`),
  };
  return record({ response, effects: { added: { orgId: org, events: [] }, analyze: false } });
};

const waysToChange: Record<string, (scene: Scene) => unknown> = {
  'an answer': (scene) => answer(scene, 11),
  'answers that come together': (scene) =>
    Promise.all([11, 12, 13].map((hour) => answer(scene, hour))),
  'an import': ({ org, survey }) => db`
    insert into responses (org_id, survey_id, score, category, created_at)
    values (${org}, ${survey}, 7, 'passive', ${`${day} 09:10Z`})`,
  'a hold': ({ org }) => db`
    update responses set held_reason = 'by hand'
    where org_id = ${org} and created_at = ${`${day} 10:00Z`}`,
  'another score': ({ org }) => db`
    update responses set score = 7, category = 'passive'
    where org_id = ${org} and created_at = ${`${day} 10:00Z`}`,
  'a deletion': (scene) => db`
    delete from responses where org_id = ${scene.org} and created_at = ${`${day} 10:00Z`}`,
};
const daysWithHours = async ({ org, survey }: Scene) =>
  (
    await db`
      select from day_tallies where survey_id = ${survey} and slot = 0 and by_half_hour is not null
      union all
      select from organization_day_tallies where org_id = ${org} and slot = 0 and by_half_hour is not null`
  ).length;
for (const [way, change] of Object.entries(waysToChange)) {
  test(`half hours of a kept day are right after ${way}, once it is folded, and after the next count`, async () => {
    const scene = await makeScene();
    await foldTallies(db);
    assert.equal(await daysWithHours(scene), 2);
    await change(scene);
    await assertTalliesHold(db);
    await db`call fold_tallies()`;
    await assertTalliesHold(db);
    assert.equal(await daysWithHours(scene), 0);
    await foldTallies(db);
    assert.equal(await daysWithHours(scene), 2);
    await assertTalliesHold(db);
  });
}

test('to count the facets of an organization leaves figures and changes of others', async () => {
  const [ours, theirs] = [await makeScene(), await makeScene()];
  await foldTallies(db);
  const kept = await keptOf(theirs.org);
  for (const { org } of [ours, theirs]) {
    await db`insert into facet_changes (org_id, day) values (${org}, ${day})`;
  }
  await db`call tally_facets(${ours.org}, array[${day}::date])`;
  const changed = await db<{ org_id: string }[]>`select org_id from facet_changes`;
  assert.deepEqual([...changed], [{ org_id: theirs.org }]);
  assert.ok(kept > 0);
  assert.equal(await keptOf(theirs.org), kept);
});

test('the analysis of one response that is deleted takes its sentiment away, and nothing else', async () => {
  const [ours, theirs] = await makeTwins(db);
  const facets = async ({ org }: Twin) =>
    (
      await db<{ facet: string; response: string; day: string }[]>`
        select facet::text, response_id::text as response, utc_day(created_at)::text as day
        from response_facets where org_id = ${org} order by 1, 2`
    ).map(({ facet, response, day }) => `${response} ${facet} ${day}`);
  const [before, others] = [await facets(ours), await facets(theirs)];
  // Both have this response at the same instant, with the same sentiment.
  const both = ours.rows.find(({ id, at, sentiment, held }) =>
    theirs.rows.some(
      (row) =>
        !held &&
        !row.held &&
        row.id === id &&
        row.at === at &&
        row.sentiment === 'negative' &&
        sentiment === 'negative',
    ),
  )!;
  await db`delete from facet_changes`;
  await db`delete from analyses where org_id = ${ours.org} and response_id = ${both.id}`;
  const left = await facets(ours);
  const [lost, ...rest] = before.filter((facet) => !left.includes(facet));
  const [hash] = await db<
    { facet: string }[]
  >`select facet_of('sentiment', '', 'negative')::text as facet`;
  assert.equal(lost, `${both.id} ${hash!.facet} ${both.at.slice(0, 10)}`);
  assert.deepEqual([rest.length, left.length], [0, before.length - 1]);
  assert.deepEqual(await facets(theirs), others);
  const changed = await db`select org_id, day::text from facet_changes`;
  assert.deepEqual([...changed], [{ org_id: ours.org, day: both.at.slice(0, 10) }]);
});
