import { json, type Sql } from '../../../src/lib/db/db.ts';
import { categoryOf, type SurveyType, scaleOf } from '../../../src/scores.ts';
import { ago, id } from './names.ts';
import { full } from './organizations.ts';

/** Answers in every state, some weeks of them, and what was done with them. */
export async function addResponses(sql: Sql) {
  await addTags(sql);
  await addStates(sql);
  for (const type of ['nps', 'csat', 'ces', 'star5', 'thumbs'] as const) await addWeeks(sql, type);
  await addFollowUps(sql);
  await addAnalyses(sql);
}

const tags = [
  ...[
    { name: 'billing', color: '#b3261e' },
    { name: 'delivery', color: '#1b6e3c' },
  ],
  ...[{ name: 'عاجل', color: '#7a3e9d' }],
];

async function addTags(sql: Sql) {
  for (const [at, tag] of tags.entries()) {
    const made = { ...tag, id: id(`tag-${at + 1}`), org_id: full.id, created_at: ago(90 - at) };
    await sql`insert into tags ${sql(made)}`;
  }
}

/** Of those each that a screen shows in another way, newest first. */
const states = [
  { name: 'late', score: 2, comment: 'It came <late> & "broken".\n\nCall me.', contact_id: 'ada' },
  { name: 'owned', score: 4, comment: 'We were billed twice.', chosen_state: 'open', owner: true },
  { name: 'done', score: 0, comment: 'Cancelled.', chosen_state: 'done', owner: true },
  { name: 'quiet', score: 8, comment: null },
  { name: 'praise', score: 10, comment: 'رائع جدا', contact_id: 'layla', language: 'ar' },
  { name: 'held', score: 1, comment: 'Click here', held_reason: 'scores_opened' },
  { name: 'trapped', score: 9, comment: null, held_reason: 'hidden_link' },
  { name: 'filled', score: 7, comment: 'spam', held_reason: 'hidden_field' },
  { name: 'imported', score: 9, comment: 'Kept from before.', source: 'import', language: null },
];

async function addStates(sql: Sql) {
  for (const [at, { name, owner, contact_id, ...response }] of states.entries()) {
    await sql`insert into responses ${sql({
      ...{ id: id(`response-${name}`), org_id: full.id, survey_id: id('survey-nps') },
      ...{ category: categoryOf('nps', response.score), source: 'share', language: 'en' },
      properties: json(sql, { page: '/pricing', plan: at % 2 ? 'pro' : 'free' }),
      ...{ created_at: ago(at, 1), traceparent: null, ...response },
      ...(contact_id && { contact_id: id(contact_id), source: 'link' }),
      ...(owner && { owner_id: id('member-editor') }),
    })}`;
  }
}

/** Every other day one, over the scale. */
async function addWeeks(sql: Sql, type: SurveyType) {
  const { lowest, highest } = scaleOf(type);
  for (let n = 0; n < 14; n++) {
    const score = lowest + ((n * 3) % (highest - lowest + 1));
    await sql`insert into responses ${sql({
      ...{ id: id(`response-${type}-${n}`), org_id: full.id, survey_id: id(`survey-${type}`) },
      ...{ score, category: categoryOf(type, score), source: 'share', language: 'en' },
      ...{ comment: n % 5 === 0 ? `About ${type} ${n}` : null, created_at: ago(11 + n * 3, n) },
      properties: json(sql, { plan: ['pro', 'free', 'team'][n % 3] }),
    })}`;
  }
}

async function addFollowUps(sql: Sql) {
  const tagged = [
    ...([
      ['late', 1],
      ['late', 2],
      ['owned', 1],
      ['praise', 3],
      ['held', 2],
    ] as const),
  ];
  for (const [of, tag] of tagged) {
    await sql`insert into response_tags ${sql({
      ...{ org_id: full.id, response_id: id(`response-${of}`), tag_id: id(`tag-${tag}`) },
      created_at: ago(1, tag),
    })}`;
  }
  const notes = [
    ...[{ author: 'Lena Dahl', author_kind: 'member', text: 'Called.\nNo answer.' }],
    ...[{ author: 'crm sync', author_kind: 'key', text: 'Ticket 42' }],
  ];
  for (const [at, note] of notes.entries()) {
    await sql`insert into response_notes ${sql({
      ...{ ...note, id: id(`note-${at}`), org_id: full.id, response_id: id('response-late') },
      created_at: ago(0, 20 - at),
    })}`;
  }
}

async function addAnalyses(sql: Sql) {
  const analyses = [
    { of: 'late', sentiment: 'negative', themes: ['delivery', 'support'], churn_risk: 'high' },
    { of: 'owned', sentiment: 'mixed', themes: ['billing'], churn_risk: 'medium' },
    { of: 'praise', sentiment: 'positive', themes: [], churn_risk: 'low' },
    { of: 'imported', sentiment: 'neutral', themes: ['price'], churn_risk: null },
  ];
  for (const { of, ...analysis } of analyses) {
    await sql`insert into analyses ${sql({
      ...{ ...analysis, org_id: full.id, response_id: id(`response-${of}`), provider: 'builtin' },
      ...{ summary: `In short: ${of}.`, analyzed_at: ago(0, 3) },
    })}`;
  }
  await sql`insert into waiting_analyses ${sql({
    ...{
      org_id: full.id,
      response_id: id('response-done'),
      due_at: ago(0, 1),
      created_at: ago(0, 2),
    },
  })}`;
  await sql`insert into themes ${sql({
    ...{ id: id('theme'), org_id: full.id, name: 'delivery', words: ['late', 'parcel'] },
  })}`;
  const summaries = [
    ...[{ from: '2026-03-01', to: '2026-04-01', nps: 12, previous_nps: null, text: 'Calm.' }],
    { from: '2026-04-01', to: '2026-05-01', nps: 31, previous_nps: 12, text: summary },
  ];
  for (const [at, { from, to, ...one }] of summaries.entries()) {
    await sql`insert into summaries ${sql({
      ...{ ...one, id: id(`summary-${at + 1}`), org_id: full.id, responses: 40 + at },
      ...{ period_start: `${from}T00:00:00Z`, period_end: `${to}T00:00:00Z`, scheduled: at === 1 },
      ...{ top_themes: at ? ['delivery', 'billing'] : [], created_at: ago(40 - at * 20) },
    })}`;
  }
}

const summary = `Larkspur received 41 answers. The Net Promoter Score is +31, up 19 points.

Customers speak most of delivery. “It came late” (detractor).`;
