import type { Example } from '../lib/openapi/section.ts';
import { answeredAt, contactId, email, responseId, surveyId } from './story.ts';

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
