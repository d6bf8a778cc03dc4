import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { makeContact, makeOrganization, makeResponse, makeSurvey } from '../support/make/rows.ts';
import { makeTwins, type Twin, type TwinRow } from '../support/make/twins.ts';
import { testDatabase } from '../support/probe/database.ts';

/** What responses are found by after changes of one organization, of two whose responses have the same ids. */
const { db } = await testDatabase();
let ours: Twin;
let theirs: Twin;

before(async () => {
  [ours, theirs] = await makeTwins(db);
});

/** Facets that are kept and not in the rows, or the other way about. */
const wrongFacets = async () => [
  ...(await db`
    with wanted as (
      select r.org_id, r.id, r.created_at, r.survey_id, r.category, r.score, facet_of('property', key, value) as facet
      from responses r
      left join contacts c on c.id = r.contact_id
      cross join lateral jsonb_each_text(case when r.contact_id is null then r.properties else c.properties end)
      where held_reason is null
      union all
      select r.org_id, r.id, r.created_at, r.survey_id, r.category, r.score, facet_of('tag', '', tag_id::text)
      from responses r
      join response_tags t on (t.org_id, t.response_id) = (r.org_id, r.id)
      where held_reason is null
      union all
      select r.org_id, r.id, r.created_at, r.survey_id, r.category, r.score, facet_of('sentiment', '', sentiment)
      from responses r
      join analyses a on (a.org_id, a.response_id) = (r.org_id, r.id)
      where held_reason is null and sentiment is not null
    ), kept as (
      select org_id, response_id, created_at, survey_id, category, score, facet from response_facets
    )
    (table wanted except all table kept) union all (table kept except all table wanted)`),
];

/** A response that both have, with the same sentiment, and each with a tag of its own. */
function ofBoth() {
  const isFull = ({ held, tagged, sentiment }: TwinRow) =>
    !held && tagged && sentiment === 'negative';
  const full = new Set(theirs.rows.filter(isFull).map(({ id }) => id));
  return ours.rows.find((row) => isFull(row) && full.has(row.id))!.id;
}

type Row = { org_id: string; response_id: string };
const of = ({ org_id, response_id }: Row) =>
  db`org_id = ${org_id} and response_id = ${response_id}`;
const response = ({ org_id, response_id }: Row) => db`org_id = ${org_id} and id = ${response_id}`;

/** Each in turn, on one response; the next begins with what the last one left. */
const changes: Record<string, (row: Row) => PromiseLike<unknown>> = {
  held: (row) => db`update responses set held_reason = 'by hand' where ${response(row)}`,
  released: (row) => db`update responses set held_reason = null where ${response(row)}`,
  'of another score': (row) =>
    db`update responses set score = 3, category = 'detractor' where ${response(row)}`,
  'of another plan': (row) =>
    db`update responses set properties = '{"plan": "free"}' where ${response(row)}`,
  untagged: (row) => db`delete from response_tags where ${of(row)}`,
  tagged: (row) => db`
    insert into response_tags (org_id, response_id, tag_id)
    values (${row.org_id}, ${row.response_id}, ${ours.tag})`,
  'of another sentiment': (row) => db`update analyses set sentiment = 'positive' where ${of(row)}`,
  'of no sentiment': (row) => db`update analyses set sentiment = null where ${of(row)}`,
  'of a sentiment again': (row) => db`update analyses set sentiment = 'negative' where ${of(row)}`,
  'without analysis': (row) => db`delete from analyses where ${of(row)}`,
  analyzed: (row) => db`
    insert into analyses (org_id, response_id, sentiment, provider)
    values (${row.org_id}, ${row.response_id}, 'negative', 'test')`,
};

for (const [how, change] of Object.entries(changes)) {
  test(`a response that is ${how} is found by what it has then, and one of another organization as before`, async () => {
    const response_id = ofBoth();
    await change({ org_id: ours.org, response_id });
    assert.deepEqual(await wrongFacets(), []);
  });
}

test('a response that moves to another day is found there', async () => {
  const response_id = ofBoth();
  await db`
    update responses set created_at = created_at + interval '40 days'
    where org_id = ${ours.org} and id = ${response_id}`;
  assert.deepEqual(await wrongFacets(), []);
});

test('what a contact has is a facet of its own responses that count', async () => {
  const org_id = await makeOrganization(db);
  const survey = { org_id, survey_id: await makeSurvey(db, org_id) };
  const contacts: string[] = [];
  for (const [n, held_reason] of [null, null, 'by hand'].entries()) {
    const properties = db.json({ plan: 'pro', seats: 3 });
    const contact_id = await makeContact(db, survey, { properties });
    const created_at = `2024-05-0${1 + n}T10:00Z`;
    await makeResponse(db, survey, { contact_id, held_reason, created_at });
    contacts.push(contact_id);
  }
  for (const contact of contacts) {
    await db`update contacts set properties = '{"plan": "free"}' where id = ${contact}`;
    assert.deepEqual(await wrongFacets(), []);
  }
});
