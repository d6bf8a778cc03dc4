import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commandWriter } from '../../src/audit/acts.ts';
import { inTransaction } from '../../src/lib/db/db.ts';
import { importBatch, type NumberedResponse } from '../../src/responses/import.ts';
import { makeOrganization, makeSurvey } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();

type Person = Omit<NonNullable<NumberedResponse['person']>, 'key'> &
  Pick<NumberedResponse, 'properties'>;

const response = (day: string, person: Person): NumberedResponse => ({
  score: 9,
  category: 'promoter',
  comment: null,
  tags: [],
  note: null,
  answers: {},
  properties: person.properties,
  occurrence: 1,
  created_at: new Date(day),
  person: { ...person, key: person.email.toLowerCase() },
});

/** Responses of two people, in order of time. */
const responses = [
  response('2024-03-01', { email: 'Ben@people.test', name: 'Ben', properties: { plan: 'team' } }),
  response('2024-03-02', {
    email: 'Ada@people.test',
    name: 'Ada of old',
    properties: { plan: 'free', city: 'Oslo' },
  }),
  response('2025-03-01', { email: 'ADA@people.test', name: 'Ada', properties: { plan: 'pro' } }),
  response('2025-03-02', { email: 'ben@people.test', name: null, properties: {} }),
  response('2026-03-01', { email: 'ada@people.test', name: null, properties: { seats: '3' } }),
];

const [a, b, c, d, e] = responses as [
  NumberedResponse,
  NumberedResponse,
  NumberedResponse,
  NumberedResponse,
  NumberedResponse,
];
const orders = [
  [a, b, c, d, e],
  [e, d, c, b, a],
  [c, a, e, b, d],
];

for (const [place, order] of orders.entries()) {
  test(`the latest row of a person wins, in order ${place + 1}`, async () => {
    const orgId = await makeOrganization(db);
    const surveyId = await makeSurvey(db, orgId);
    const writer = { ...commandWriter(orgId), surveyId, author: 'Delighted' };
    assert.equal(await inTransaction(db, (tx) => importBatch(tx, writer, order)), 5);
    const contacts = await db`
      select c.email, c.name, c.properties, c.responded_at,
             (select count(*)::int from responses r where r.contact_id = c.id) as responses
      from contacts c where c.survey_id = ${surveyId} order by c.email`;
    assert.deepEqual(
      [...contacts],
      [
        {
          email: 'Ada@people.test',
          name: 'Ada',
          properties: { plan: 'pro', city: 'Oslo', seats: '3' },
          responded_at: new Date('2026-03-01'),
          responses: 3,
        },
        {
          email: 'Ben@people.test',
          name: 'Ben',
          properties: { plan: 'team' },
          responded_at: new Date('2025-03-02'),
          responses: 2,
        },
      ],
    );
    const kept = await db<{ properties: object }[]>`
      select properties from responses where survey_id = ${surveyId} order by created_at`;
    assert.deepEqual(
      kept.map(({ properties }) => properties),
      responses.map(({ person }) => person?.properties),
    );
  });
}
