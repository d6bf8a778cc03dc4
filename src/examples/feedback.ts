import type { Example } from '../lib/openapi/section.ts';
import {
  answeredAt,
  cursor,
  email,
  page,
  responseId,
  shareId,
  summarizedAt,
  summaryId,
  surveyId,
  token,
} from './story.ts';

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

const note = {
  id: 'd1f0c8a2-54f7-4b43-9d2e-0e7b5a3c9f11',
  text: 'Ada agreed to be quoted.',
  author: 'Ann',
  created_at: summarizedAt,
};

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
