import type { Example } from '../lib/openapi/openapi.ts';

export const tally = { promoters: 22, passives: 11, detractors: 7, nps: 38 };

const tagId = '2a3b4c5d-6e7f-4890-a1b2-c3d4e5f60718';

const shares = {
  margin_of_error: 23.7,
  total: 40,
  promoter_pct: 55,
  passive_pct: 27.5,
  detractor_pct: 17.5,
  held: 2,
};

/**
 * One story for all examples of the API document: Acme asks its customers in spring. Ids, times and sums
 * agree with each other, and every example fits its schema.
 */
export const surveyId = '3f6f2a52-7c1e-4d0a-9a55-0c8d7f0b2a11';

export const responseId = '5a7e9d31-0f4b-4c92-8e16-2b3d4f5a6c70';

export const email = 'ada@example.com';

export const answeredAt = '2026-04-14T10:02:31.123Z';

const response = {
  id: responseId,
  survey_id: surveyId,
  score: 9,
  category: 'promoter',
  comment: 'Setup took five minutes.',
  ai_sentiment: 'positive',
  ai_themes: ['onboarding'],
  ai_churn_risk: 'low',
  ai_summary: 'Praises how quickly it was set up.',
  held: false,
  created_at: answeredAt,
  contact_email: email,
  contact_name: 'Ada',
  survey_name: 'Spring',
  survey_type: 'nps',
  language: 'en',
  properties: { plan: 'pro', country: 'DE' },
  tags: [{ id: tagId, name: 'Enterprise', color: '#1F6FEB' }],
  state: null,
  owner: null,
};

const tag = {
  id: tagId,
  name: 'Enterprise',
  color: '#1F6FEB',
  created_at: '2026-04-01T08:05:00.000Z',
};

export const summarizedAt = '2026-05-01T00:05:00.000Z';

const note = {
  id: 'd1f0c8a2-54f7-4b43-9d2e-0e7b5a3c9f11',
  text: 'Ada agreed to be quoted.',
  author: 'Ann',
  created_at: summarizedAt,
};

const summaryId = 'e81c4b7a-6d52-4e39-a0f7-91b2c3d4e5f6';

const summary = {
  id: summaryId,
  report_type: 'executive-summary',
  period_start: '2026-04-01T00:00:00.000Z',
  period_end: '2026-05-01T00:00:00.000Z',
  nps: 38,
  previous_nps: 31,
  responses: 40,
  top_themes: ['onboarding', 'support'],
  text: 'NPS rose from 31 to 38. Customers praise onboarding; detractors wait too long for support.',
  created_at: summarizedAt,
};

export const token = 'Xq3v9Yb2mNfK8sLw0TzRcA';
export const shareId = 'q7Tz0mWb3YxK9fNs';

const cursor =
  'MjAyNi0wNC0xNFQxMDowMjozMS4xMjM0NTZaIDVhN2U5ZDMxLTBmNGItNGM5Mi04ZTE2LTJiM2Q0ZjVhNmM3MA';

export const page = { page: 1, limit: 50, total: 1, next_cursor: null };

/** Responses and summaries, by the id of the operation. */
export const feedbackExamples: Readonly<Record<string, Example>> = {
  listResponses: {
    answer: { data: [response], meta: { page: 1, limit: 1, total: 40, next_cursor: cursor } },
  },
  getResponse: { path: { id: responseId }, answer: { data: { ...response, notes: [note] } } },
  changeResponse: {
    path: { id: responseId },
    body: { state: 'done', owner: 'ann@acme.example' },
    answer: { data: { ...response, state: 'done', owner: 'ann@acme.example', notes: [note] } },
  },
  setResponseTags: {
    path: { id: responseId },
    body: { tags: [tagId] },
    answer: { data: { ...response, notes: [note] } },
  },
  addResponseNote: {
    path: { id: responseId },
    body: { text: note.text },
    answer: { data: note },
  },
  releaseResponse: { path: { id: responseId }, answer: { data: { ...response, notes: [] } } },
  deleteResponse: { path: { id: responseId } },
  getNps: { answer: { data: { ...tally, ...shares } } },
  getNpsTrend: {
    answer: {
      data: [{ start: '2026-04-01', ...tally, ...shares }],
      meta: { interval: 'month', tz: 'Europe/Berlin', total: 1 },
    },
  },
  answerPersonal: {
    path: { token },
    body: { score: 9, comment: 'Setup took five minutes.' },
    answer: { data: { id: responseId, score: 9 } },
  },
  answerShared: {
    path: { share_id: shareId },
    body: { score: 9 },
    answer: { data: { id: responseId, score: 9 } },
  },
  listTags: { answer: { data: [tag], meta: { total: 1 } } },
  createTag: { body: { name: 'Enterprise', color: '#1F6FEB' }, answer: { data: tag } },
  changeTag: {
    path: { id: tagId },
    body: { name: 'Key account' },
    answer: { data: { ...tag, name: 'Key account' } },
  },
  deleteTag: { path: { id: tagId } },
  listSummaries: { answer: { data: [summary], meta: page } },
  getSummary: { path: { id: summaryId }, answer: { data: summary } },
};

export const orgId = '9b1d6e0c-52a4-4f6f-8f0e-7a3c5d2e1b90';
export const contactId = 'c2f0a6de-1b7f-4a53-b7a9-5d6f3e2c1a08';

export const webhookId = 'd4b8f1c6-3a2e-47f5-9c70-8e1f2a3b4c5d';
export const deliveryId = '7c9e6679-7425-40de-944b-e07fc1f90ae7';
export const suppressionId = '1f2e3d4c-5b6a-4978-8695-a4b3c2d1e0f9';
export const campaignId = '8d7c6b5a-4f3e-42d1-8c0b-9a8f7e6d5c4b';
export const erasureId = '2b7d9f31-6c4e-4a85-9d20-7f1e3c5a8b64';
