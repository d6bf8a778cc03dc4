import assert from 'node:assert/strict';
import { test } from 'node:test';
import { everything, type Facet } from '../../src/responses/filter.queries.ts';
import { readNps } from '../../src/responses/trend.ts';
import { makeOrganization, makeSurvey } from '../support/make/rows.ts';
import { makeTwins, type Twin } from '../support/make/twins.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();
const day = '2024-03-04';
const many = 60;

/** Responses with the same property, tag and sentiment. */
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
  test(`a ${what} that responses lose and have again counts`, async () => {
    const scene = await makeScene();
    const count = async () => {
      const scope = { ...everything, facets: [facet(scene)] };
      return (await readNps(db, scene.org, scope)).promoters;
    };
    assert.equal(await count(), many);
    await lose(scene);
    assert.equal(await count(), (many * 2) / 3);
    await regain(scene);
    assert.equal(await count(), many);
  });
}

test('the analysis of one response that is deleted takes its sentiment away, and nothing else', async () => {
  const [ours, theirs] = await makeTwins(db);
  const facets = async ({ org }: Twin) =>
    (
      await db<{ facet: string; response: string }[]>`
        select facet::text, response_id::text as response
        from response_facets where org_id = ${org} order by 1, 2`
    ).map(({ facet, response }) => `${response} ${facet}`);
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
  await db`delete from analyses where org_id = ${ours.org} and response_id = ${both.id}`;
  const left = await facets(ours);
  const [lost, ...rest] = before.filter((facet) => !left.includes(facet));
  const [hash] = await db<
    { facet: string }[]
  >`select facet_of('sentiment', '', 'negative')::text as facet`;
  assert.equal(lost, `${both.id} ${hash!.facet}`);
  assert.deepEqual([rest.length, left.length], [0, before.length - 1]);
  assert.deepEqual(await facets(theirs), others);
});
