import * as v from 'valibot';
import type { ApiSection, Operation } from '../lib/openapi/section.ts';
import { eventTypes } from './events.ts';
import {
  Delivery,
  NewWebhook,
  Replay,
  TestResult,
  Webhook,
  WebhookChange,
  WebhookWithSecret,
} from './schemas.ts';

/** The list of the API has no further pages. */
export const deliveriesShown = 50;

const path = '/api/webhooks';
const Events = v.object({
  events: v.array(
    v.object({ type: v.picklist(eventTypes.map(({ type }) => type)), description: v.string() }),
  ),
});
const whenCopying = {
  400: { about: 'the webhook is switched off' },
  409: { about: 'a replay of the webhook is under way' },
};

const managing: Operation[] = [
  {
    id: 'listWebhooks',
    method: 'get',
    path,
    summary: 'List webhooks',
    about: 'All webhooks of the organization, without pages and without their secrets.',
    permission: 'read',
    answer: { status: 200, about: 'all of them', schema: v.object({ webhooks: v.array(Webhook) }) },
  },
  {
    id: 'createWebhook',
    method: 'post',
    path,
    summary: 'Create a webhook',
    about:
      'The URL must be https and lead to a public address. Keep the `secret` of the answer: it signs every ' +
      'delivery and is not shown again. With `retries` `extended` a failed delivery is tried again for about 28 ' +
      'hours, and a receiver may be away for three days.',
    permission: 'write',
    body: NewWebhook,
    answer: {
      status: 201,
      about: 'the webhook, with the secret that its deliveries are signed with',
      schema: WebhookWithSecret,
    },
    refusals: { 403: { about: 'org_id is not the organization of the key' } },
  },
  {
    id: 'listWebhookEvents',
    method: 'get',
    path: `${path}/events`,
    summary: 'List the events to subscribe to',
    about: 'Every type that `events` of a webhook may name.',
    permission: 'read',
    answer: { status: 200, about: 'the four events', schema: Events },
  },
  {
    id: 'getWebhook',
    method: 'get',
    path: `${path}/{id}`,
    summary: 'Get a webhook',
    about:
      'Its state: whether it is active, how often it failed in a row, and why it was deactivated.',
    permission: 'read',
    answer: { status: 200, about: 'the webhook', schema: Webhook },
  },
  {
    id: 'changeWebhook',
    method: 'put',
    path: `${path}/{id}`,
    summary: 'Change a webhook, or switch it on again',
    about: '`{"active": true}` switches a deactivated webhook on and sets its failure_count to 0.',
    permission: 'write',
    body: WebhookChange,
    bodyOptional: true,
    answer: { status: 200, about: 'the webhook as it is now', schema: Webhook },
  },
  {
    id: 'deleteWebhook',
    method: 'delete',
    path: `${path}/{id}`,
    summary: 'Delete a webhook',
    about: 'Nothing more is sent to it, and its deliveries are deleted.',
    permission: 'write',
    answer: { status: 204, about: 'it is gone' },
  },
  {
    id: 'rotateWebhookSecret',
    method: 'post',
    path: `${path}/{id}/rotate-secret`,
    summary: 'Give a webhook a new secret',
    about: 'The old one signs too for 24 hours, in `webhook-signature`.',
    permission: 'write',
    answer: { status: 200, about: 'the webhook, with its new secret', schema: WebhookWithSecret },
  },
];

const delivering: Operation[] = [
  {
    id: 'testWebhook',
    method: 'post',
    path: `${path}/{id}/test`,
    summary: 'Send a test event and see what comes of it',
    about: 'Works on an inactive webhook, is not retried, and never counts as a failure.',
    permission: 'write',
    answer: { status: 200, about: 'what the subscriber answered', schema: TestResult },
  },
  {
    id: 'listDeliveries',
    method: 'get',
    path: `${path}/{id}/deliveries`,
    summary: `List the last ${deliveriesShown} deliveries, newest first`,
    about: 'Each with all its attempts: what was answered, or why nothing was.',
    permission: 'read',
    answer: {
      status: 200,
      about: 'each with its attempts',
      schema: v.object({ deliveries: v.array(Delivery) }),
    },
  },
  {
    id: 'redeliver',
    method: 'post',
    path: `${path}/{id}/deliveries/{delivery_id}/redeliver`,
    summary: 'Deliver one event again',
    about: 'A test that is delivered again stays one: it is not retried and changes no count.',
    permission: 'write',
    answer: { status: 202, about: 'on its way', schema: v.object({ redelivered: v.number() }) },
    refusals: {
      ...whenCopying,
      410: { about: 'the person whose words this delivery carried was erased (`erased`)' },
    },
  },
  {
    id: 'replayWebhook',
    method: 'post',
    path: `${path}/{id}/replay`,
    summary: 'Deliver again what was skipped or failed since a time',
    about: 'Deliveries keep their event id and bytes, so a subscriber can drop those it has seen.',
    permission: 'write',
    body: Replay,
    answer: {
      status: 202,
      about: 'how many are on their way',
      schema: v.object({ replayed: v.number() }),
    },
    refusals: whenCopying,
  },
];

export const webhookSection: ApiSection = {
  name: 'Webhooks',
  about: 'Subscriptions to events, and the outcomes of their deliveries.',
  schemas: { Webhook, WebhookWithSecret, Delivery, WebhookTested: TestResult },
  operations: [...managing, ...delivering],
};
