import type { Example } from '../lib/openapi/section.ts';
import { campaignId, contactId, email, page, surveyId } from './story.ts';

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
