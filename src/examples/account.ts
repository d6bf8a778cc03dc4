import type { Example } from '../lib/openapi/section.ts';
import { answeredAt, contactId, email, orgId, surveyId } from './story.ts';

const nothing = {
  reason_code: null,
  reason: null,
  trace_id: null,
  webhook_id: null,
  delivery_id: null,
};
const ofSurvey = { survey_id: surveyId, survey_name: 'Spring', ...nothing };

/** People, keys and what is used, by the id of the operation. */
export const accountExamples: Readonly<Record<string, Example>> = {
  deleteContact: { path: { id: contactId } },
  getPerson: {
    path: { email },
    answer: {
      data: {
        email,
        events: [
          { at: '2026-04-01T08:00:00.000Z', what: 'added', ...ofSurvey },
          { at: '2026-04-01T08:01:00.000Z', what: 'sent', ...ofSurvey },
          { at: answeredAt, what: 'answered', ...ofSurvey, reason: 'score 9' },
        ],
      },
    },
  },
  getMe: {
    answer: {
      data: {
        organization: { id: orgId, name: 'Acme' },
        key: {
          id: '5c1c8b6e-0a3b-4a52-8f0e-0d6f4c1f7b21',
          name: 'CRM',
          permission: 'write',
          expires_at: null,
        },
        limits: { requests_per_minute: 100, mails_per_month: 10000 },
        usage: { mails_this_month: 96 },
      },
    },
  },
  getUsage: {
    answer: {
      data: {
        month: '2026-04',
        mails_sent: 96,
        mails_limit: 10000,
        mails_remaining: 9904,
        responses: 40,
        contacts: 120,
      },
    },
  },
};
