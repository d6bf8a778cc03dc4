import type { Example } from '../lib/openapi/openapi.ts';
import {
  answeredAt,
  contactId,
  cursor,
  email,
  responseId,
  summarizedAt,
  summaryId,
  surveyId,
} from './story.ts';

const page = { page: 1, limit: 50, total: 1, next_cursor: null };

const survey = {
  id: surveyId,
  name: 'Spring',
  question_text: 'How likely are you to recommend Acme?',
  from_name: 'Ann at Acme',
  from_email: 'ann@acme.example',
  status: 'active',
  type: 'nps',
  audience: null,
  sent_count: 96,
  response_count: 40,
  created_at: '2026-04-01T08:00:00.000Z',
  updated_at: answeredAt,
};

const tally = { promoters: 22, passives: 11, detractors: 7, nps: 38 };

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

/** What is asked and answered, by the id of the operation. */
export const feedbackExamples: Readonly<Record<string, Example>> = {
  listSurveys: { answer: { data: [survey], meta: page } },
  getSurvey: {
    answer: {
      data: {
        ...survey,
        reply_to: 'feedback@acme.example',
        stats: { total_responses: 40, avg_score: 7.9, ...tally },
      },
    },
  },
  sendSurvey: {
    body: {
      contacts: [
        { email, name: 'Ada', properties: { plan: 'pro' } },
        { email: 'grace@example.com' },
        { email: 'grace@example.com' },
        { email: 'not an address' },
      ],
    },
    answer: {
      data: {
        survey_id: surveyId,
        contacts_queued: 2,
        contacts: [
          { id: contactId, email, token: 'Xq3v9Yb2mNfK8sLw0TzRcA' },
          {
            id: '0d9c8b7a-6f5e-4d3c-8b2a-1908f7e6d5c4',
            email: 'grace@example.com',
            token: 'p0LkJ8hGfD7sAqWeRt5yUi',
          },
        ],
        results: [
          { email, status: 'sent' },
          { email: 'grace@example.com', status: 'sent' },
          {
            email: 'grace@example.com',
            status: 'duplicate',
            reason: 'this address is listed twice in the request',
            reason_code: 'repeated',
          },
          {
            email: 'not an address',
            status: 'invalid',
            reason: 'invalid or missing email address',
            reason_code: 'invalid_email',
          },
        ],
        sent: 2,
        duplicates: 1,
        invalid: 1,
        failed: 0,
      },
    },
  },
  listSuppressions: {
    answer: {
      data: [
        {
          id: '1f2e3d4c-5b6a-4978-8695-a4b3c2d1e0f9',
          email: 'linus@example.com',
          kind: 'bounced',
          detail: '550 5.1.1 no such user',
          created_at: '2026-04-02T09:15:00.000Z',
        },
      ],
      meta: page,
    },
  },
  takeBounce: { answer: { data: { matched: true, action: 'bounced' } } },
  listContacts: {
    answer: {
      data: [
        {
          id: contactId,
          email,
          name: 'Ada',
          status: 'responded',
          failure_reason: null,
          sent_at: '2026-04-14T09:00:00.000Z',
          responded_at: answeredAt,
          survey_id: surveyId,
          survey_name: 'Spring',
        },
      ],
      meta: page,
    },
  },
  saveContact: {
    body: { email, survey_id: surveyId, name: 'Ada', properties: { plan: 'pro' } },
    answer: {
      data: {
        id: contactId,
        email,
        name: 'Ada',
        status: 'pending',
        created_at: '2026-04-14T08:59:00.000Z',
      },
    },
  },
  listResponses: {
    answer: { data: [response], meta: { page: 1, limit: 1, total: 40, next_cursor: cursor } },
  },
  getResponse: { answer: { data: response } },
  getNps: {
    answer: {
      data: { ...tally, total: 40, promoter_pct: 55, passive_pct: 27.5, detractor_pct: 17.5 },
    },
  },
  answerPersonal: {
    body: { score: 9, comment: 'Setup took five minutes.' },
    answer: { data: { id: responseId, score: 9 } },
  },
  answerShared: { body: { score: 9 }, answer: { data: { id: responseId, score: 9 } } },
  listTags: {
    answer: {
      data: [
        {
          id: '2a3b4c5d-6e7f-4890-a1b2-c3d4e5f60718',
          name: 'Enterprise',
          color: '#1F6FEB',
          created_at: '2026-04-01T08:05:00.000Z',
        },
      ],
      meta: { total: 1 },
    },
  },
  listSummaries: { answer: { data: [summary], meta: page } },
  getSummary: { answer: { data: summary } },
};
