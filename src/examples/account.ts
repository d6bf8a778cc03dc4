import type { Example } from '../lib/openapi/openapi.ts';
import {
  answeredAt,
  contactId,
  email,
  erasureId,
  orgId,
  page,
  responseId,
  surveyId,
} from './feedback.ts';

const nothing = {
  reason_code: null,
  reason: null,
  trace_id: null,
  response_id: null,
  webhook_id: null,
  delivery_id: null,
};
const ofSurvey = { survey_id: surveyId, survey_name: 'Spring', ...nothing };

const receipt = {
  id: erasureId,
  erased_at: '2026-05-02T09:00:00.000Z',
  address_hash: '5f1c2b7e9d0a4c8e6b3f1d2a7c5e9f0b4a6d8c1e3f5a7b9d0c2e4f6a8b1d3c5e',
  counts: {
    contacts: 1,
    mails: 1,
    blocked_mails: 0,
    openings: 1,
    responses: 1,
    comments: 1,
    notes: 0,
    properties: 0,
    analyses: 0,
    summaries: 0,
    deliveries: 0,
    campaign_results: 0,
    suppressions: 0,
    uploads: 0,
    stored_answers: 0,
    mailbox_messages: 0,
    audit_events: 1,
  },
  scores: 'kept',
  allowed_at: null,
};

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
          {
            at: answeredAt,
            what: 'answered',
            ...ofSurvey,
            response_id: responseId,
            reason: 'score 9',
          },
        ],
      },
    },
  },
  erasePerson: { path: { email }, answer: { data: receipt } },
  listErasures: { answer: { data: [receipt], meta: page } },
  allowErased: {
    path: { id: erasureId },
    answer: { data: { ...receipt, allowed_at: '2026-06-01T12:00:00.000Z' } },
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

/** Examples that are not JSON: mail messages and files, by the id of the operation. */

/** Returned by the mail server of an address that does not exist. */
export const deliveryReport = [
  'From: mailer-daemon@mx.example.com',
  'To: bounce@feedback.acme.example',
  'Subject: Undelivered Mail Returned to Sender',
  'Content-Type: multipart/report; report-type=delivery-status; boundary=part',
  '',
  '--part',
  'Content-Type: message/delivery-status',
  '',
  'Reporting-MTA: dns; mx.example.com',
  '',
  `Final-Recipient: rfc822; ${email}`,
  'Action: failed',
  'Status: 5.1.1',
  '--part--',
  '',
].join('\r\n');

const csvOf = (row: Readonly<Record<string, string | number | boolean>>) =>
  `${Object.keys(row).join(',')}\r\n${Object.values(row).map(cellOf).join(',')}\r\n`;

const cellOf = (value: string | number | boolean) =>
  /[",]/.test(String(value)) ? `"${String(value).replaceAll('"', '""')}"` : String(value);

const survey = { survey_id: surveyId, survey_name: 'Spring' };
const response = {
  id: responseId,
  created_at: answeredAt,
  ...survey,
  survey_type: 'nps',
  score: 9,
};
const contact = { id: contactId, created_at: '2026-04-14T08:59:00.000Z', ...survey };

export const fileExamples: Readonly<Record<string, Example>> = {
  exportResponses: {
    files: {
      csv: csvOf({
        ...response,
        category: 'promoter',
        comment: 'Setup took five minutes.',
        language: 'en',
        contact_email: email,
        contact_name: 'Ada',
        properties: '{"plan":"pro"}',
        tags: 'Enterprise',
        state: '',
        owner: '',
        held: false,
        ai_sentiment: 'positive',
        ai_themes: 'onboarding',
        ai_churn_risk: 'low',
        ai_summary: 'Praises how quickly it was set up.',
      }),
      jsonl: `${JSON.stringify({
        ...response,
        category: 'promoter',
        comment: 'Setup took five minutes.',
        language: 'en',
        contact_email: email,
        contact_name: 'Ada',
        properties: { plan: 'pro' },
        tags: [],
        state: null,
        owner: null,
        held: false,
        ai_sentiment: 'positive',
        ai_themes: ['onboarding'],
        ai_churn_risk: 'low',
        ai_summary: null,
      })}\n`,
    },
  },
  exportContacts: {
    files: {
      csv: csvOf({
        ...contact,
        email,
        name: 'Ada',
        properties: '{"plan":"pro"}',
        status: 'responded',
        failure_reason: '',
        sent_at: '2026-04-14T09:00:00.000Z',
        responded_at: answeredAt,
      }),
      jsonl: `${JSON.stringify({
        ...contact,
        email,
        name: 'Ada',
        properties: { plan: 'pro' },
        status: 'responded',
        failure_reason: null,
        sent_at: '2026-04-14T09:00:00.000Z',
        responded_at: answeredAt,
      })}\n`,
    },
  },
};
