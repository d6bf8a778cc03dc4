import type { Example } from '../lib/openapi/openapi.ts';
import {
  answeredAt,
  deliveryId,
  orgId,
  responseId,
  summarizedAt,
  surveyId,
  webhookId,
} from './feedback.ts';

const webhook = {
  id: webhookId,
  org_id: orgId,
  url: 'https://hooks.acme.example/askback',
  events: ['response.received', 'detractor.detected'],
  retries: 'extended',
  active: true,
  failure_count: 0,
  description: 'CRM',
  created_at: '2026-04-01T08:10:00.000Z',
  updated_at: '2026-04-01T08:10:00.000Z',
  deactivated_at: null,
  deactivated_reason: null,
  last_delivery_at: '2026-04-14T10:02:31.310Z',
};
const secret = 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=';

const delivery = {
  id: deliveryId,
  webhook_id: webhookId,
  event: 'response.received',
  status: 'delivered',
  attempts: [
    {
      number: 1,
      status_code: 204,
      response_body: null,
      error: null,
      duration_ms: 41,
      at: '2026-04-14T10:02:31.310Z',
    },
  ],
  status_code: 204,
  response_body: null,
  created_at: answeredAt,
  delivered_at: '2026-04-14T10:02:31.310Z',
  next_attempt_at: null,
  trace_id: '0af7651916cd43dd8448eb211c80319c',
  trace_url: null,
};

const event = { version: '1', surveyId, timestamp: answeredAt };

/** The management of webhooks and the events, by the id of the operation or the type of the event. */
export const webhookExamples: Readonly<Record<string, Example>> = {
  listWebhooks: { answer: { webhooks: [webhook] } },
  createWebhook: {
    body: { url: webhook.url, events: webhook.events, description: 'CRM', retries: 'extended' },
    answer: { ...webhook, last_delivery_at: null, secret },
  },
  listWebhookEvents: {
    answer: {
      events: [
        { type: 'response.received', description: 'A new answer to a survey was recorded.' },
      ],
    },
  },
  getWebhook: { path: { id: webhookId }, answer: webhook },
  changeWebhook: { path: { id: webhookId }, body: { active: true }, answer: webhook },
  deleteWebhook: { path: { id: webhookId } },
  rotateWebhookSecret: { path: { id: webhookId }, answer: { ...webhook, secret } },
  testWebhook: {
    path: { id: webhookId },
    answer: {
      delivered: true,
      status_code: 204,
      response_body: null,
      duration_ms: 38,
      error: null,
      delivery_id: deliveryId,
    },
  },
  listDeliveries: { path: { id: webhookId }, answer: { deliveries: [delivery] } },
  redeliver: { path: { id: webhookId, delivery_id: deliveryId }, answer: { redelivered: 1 } },
  replayWebhook: {
    path: { id: webhookId },
    body: { since: '2026-04-14T00:00:00Z' },
    answer: { replayed: 12 },
  },
  'response.received': {
    body: { ...event, responseId, score: 9, hasComment: true, surveyType: 'nps' },
  },
  'detractor.detected': {
    body: { ...event, responseId, score: 3, comment: 'I waited a week for [name] to answer.' },
  },
  'survey.completed': {
    body: { ...event, name: 'Spring', responseCount: 40, nps: 38, completionRate: 41.7 },
  },
  'summary.generated': {
    body: {
      version: '1',
      reportType: 'executive-summary',
      nps: 38,
      topThemes: ['onboarding', 'support'],
      timestamp: summarizedAt,
    },
  },
  'webhook.test': {
    body: { version: '1', type: 'webhook.test', webhookId, timestamp: '2026-04-01T08:11:00.000Z' },
  },
};
