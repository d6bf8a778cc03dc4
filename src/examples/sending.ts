import type { Example } from '../lib/openapi/openapi.ts';
import { deliveryReport } from './account.ts';
import {
  answeredAt,
  campaignId,
  contactId,
  email,
  page,
  suppressionId,
  surveyId,
  token,
} from './feedback.ts';

/** Mails, suppressions and contacts, by the id of the operation. */
export const sendingExamples: Readonly<Record<string, Example>> = {
  sendSurvey: {
    path: { id: surveyId },
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
          { id: contactId, email, token },
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
            index: 3,
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
          id: suppressionId,
          email: 'linus@example.com',
          kind: 'bounced',
          detail: '550 5.1.1 no such user',
          created_at: '2026-04-02T09:15:00.000Z',
        },
      ],
      meta: page,
    },
  },
  liftSuppression: { path: { id: suppressionId } },
  takeBounce: {
    message: deliveryReport,
    answer: { data: { matched: true, action: 'bounced' } },
  },
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
};

const campaign = {
  id: campaignId,
  survey_id: surveyId,
  name: 'Spring, all customers',
  status: 'running',
  send_at: null,
  per_hour: 600,
  total: 350,
  sent: 120,
  duplicates: 31,
  invalid: 0,
  failed: 2,
  remaining: 197,
  reason: null,
  created_at: '2026-04-14T08:00:00.000Z',
  started_at: '2026-04-14T08:00:00.000Z',
  finished_at: null,
};
const path = { id: campaignId };

/** Campaigns, by the id of the operation. */
export const campaignExamples: Readonly<Record<string, Example>> = {
  createCampaign: {
    path: { id: surveyId },
    body: { name: 'Spring, all customers', per_hour: 600 },
    answer: { data: { ...campaign, sent: 0, failed: 0, remaining: 319 } },
    also: {
      data: {
        ...campaign,
        id: null,
        sent: 0,
        failed: 0,
        remaining: 319,
        created_at: null,
        started_at: null,
        reasons: { frequency: 20, unsubscribed: 11 },
      },
    },
  },
  listCampaigns: { path: { id: surveyId }, answer: { data: [campaign], meta: page } },
  getCampaign: { path, answer: { data: campaign } },
  listCampaignResults: {
    path,
    answer: {
      data: [
        {
          contact_id: contactId,
          email,
          status: 'sent',
          reason: null,
          reason_code: null,
          at: '2026-04-14T09:00:00.000Z',
        },
      ],
      meta: page,
    },
  },
  pauseCampaign: { path, answer: { data: { ...campaign, status: 'paused' } } },
  resumeCampaign: { path, answer: { data: campaign } },
  stopCampaign: {
    path,
    answer: {
      data: { ...campaign, status: 'stopped', finished_at: '2026-04-14T08:12:00.000Z' },
    },
  },
};
