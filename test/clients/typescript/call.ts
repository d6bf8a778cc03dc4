import createClient from 'openapi-fetch';
import type { paths } from './api.d.ts';

/** Calls each writing endpoint that a new client needs, and two reading ones. */
const { ASKBACK_URL: baseUrl, ASKBACK_KEY: key, SURVEY_ID: surveyId } = process.env;
const client = createClient<paths>({ baseUrl, headers: { 'X-API-Key': key } });

const saved = await client.POST('/api/v1/contacts', {
  body: { email: 'ada@example.com', survey_id: surveyId!, name: null, properties: { plan: 'pro' } },
});
const sent = await client.POST('/api/v1/surveys/{id}/send', {
  params: { path: { id: surveyId! }, query: { dry_run: true } },
  body: { contacts: [{ email: 'grace@example.com', properties: { seats: 3 } }] },
});
const link = await client.POST('/f/{share_id}', {
  params: { path: { share_id: process.env['SHARE_ID']! } },
  body: { score: 9, comment: 'Setup took five minutes.' },
});
const listed = await client.GET('/api/v1/responses', {
  params: { query: { date_from: '2026-04-01', limit: 10, category: 'promoter' } },
});
const nps = await client.GET('/api/v1/nps');
const filtered = await client.GET('/api/v1/nps', {
  params: { query: { property: { 'property.plan': 'pro' } } },
  querySerializer: { object: { style: 'form', explode: true } },
});

console.log(
  JSON.stringify({
    contact: saved.data?.data.email,
    results: sent.data?.data.results.map(({ status }) => status),
    score: link.data?.data.score,
    comments: listed.data?.data.map(({ comment }) => comment),
    promoters: nps.data?.data.promoters,
    promoters_on_plan: filtered.data?.data.promoters,
  }),
);
