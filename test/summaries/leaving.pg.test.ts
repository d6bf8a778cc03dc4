import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commandActor } from '../../src/audit/acts.ts';
import { analyze } from '../../src/summaries/comment-reader.ts';
import { summarize } from '../../src/summaries/summarize.ts';
import { chatEndpoint, goodAnalysis, replyWith } from '../support/fakes/chat-endpoint.ts';
import { makeFeedback, readingTools } from '../support/make/feedback.ts';
import { makeContact, makeResponse } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();

/** Personal data of the contact, the sender, members and people who are mentioned. */
const planted = [
  'Wilhelmina',
  'Oyelaran',
  'wilhelmina@oyelaran.test',
  'Thaddeus',
  'Quigley',
  'thaddeus.quigley@acme.test',
  'replies@acme.test',
  'Bartholomew',
  'office@acme.test',
  'Jennifer',
  'Robertson',
  'somebody.else@gmail.com',
  '555',
  '0199',
  '7946',
  'Zebra',
];
const comment = [
  'My name is WILHELMINA Oyelaran, write to wilhelmina@oyelaran.test or somebody.else@gmail.com.',
  'Thaddeus Quigley (thaddeus.quigley@acme.test, replies@acme.test) never called +1 202 555 0199 back,',
  'nor 020 7946 0958. Ask bartholomew at office@acme.test, or Jennifer Robertson. The export is slow.',
].join(' ');

test('no personal data leaves the service', async () => {
  const org = await makeFeedback(db, {
    name: 'Zebra Works',
    people: ['Bartholomew'],
    contact_email: 'office@acme.test',
  });
  await db`
    update surveys
    set from_name = 'Thaddeus Quigley', from_email = 'thaddeus.quigley@acme.test', reply_to = 'replies@acme.test'
    where id = ${org.survey}`;
  const of = { org_id: org.id, survey_id: org.survey };
  const contact_id = await makeContact(db, of, {
    name: 'Wilhelmina Oyelaran',
    email: 'wilhelmina@oyelaran.test',
  });
  const over = { contact_id, source: 'link', score: 2, category: 'detractor', comment };
  const response_id = await makeResponse(db, of, { ...over, created_at: new Date('2026-05-10') });
  const report = JSON.stringify({ text: 'A slow month.' });
  const endpoint = await chatEndpoint(replyWith(goodAnalysis), replyWith(report));
  const tools = readingTools(db, endpoint.analyst);

  await analyze(tools, { org_id: org.id, response_id, tries: 0 });
  const period = { start: new Date('2026-05-01'), end: new Date('2026-06-01') };
  const wish = { organization: org.organization, period, scheduled: false, actor: commandActor() };
  const summary = await summarize(tools, wish);

  assert.equal(summary?.text, 'A slow month.');
  assert.equal((await org.analyses())[0]?.summary, 'Fine.');
  const bytes = endpoint.bytes();
  assert.equal(endpoint.bodies.length, 2);
  assert.ok(bytes.includes('export is slow.'), 'the rest of the comment goes');
  assert.match(bytes, /\[name\].*\[email\].*\[phone\]/s);
  for (const secret of [...planted, org.id, org.survey, response_id, contact_id]) {
    assert.ok(!bytes.toLowerCase().includes(secret.toLowerCase()), `${secret} left: ${bytes}`);
  }
});
