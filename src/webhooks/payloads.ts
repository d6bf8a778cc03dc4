import * as v from 'valibot';
import { eventTypes } from './events.ts';
import { testEvent } from './rules.ts';

/** The payloads, for the document: within version "1" no field is removed or changes its type. */
const Version = v.pipe(v.literal('1'), v.description('the version of the payload'));
const Moment = v.pipe(v.string(), v.isoTimestamp());
const Uuid = v.pipe(v.string(), v.uuid());
const Whole = v.pipe(v.number(), v.integer());
const Nps = v.nullable(v.pipe(Whole, v.minValue(-100), v.maxValue(100)));

const ResponseReceived = v.object({
  version: Version,
  surveyId: Uuid,
  responseId: Uuid,
  score: v.pipe(
    Whole,
    v.minValue(0),
    v.maxValue(10),
    v.description('normalized to 0-10, whatever the scale of the survey'),
  ),
  hasComment: v.boolean(),
  surveyType: v.pipe(v.string(), v.description('nps, csat, ces, star5 or thumbs; more may come')),
  timestamp: v.pipe(Moment, v.description('when the response was recorded')),
});

const DetractorDetected = v.object({
  version: Version,
  surveyId: Uuid,
  responseId: Uuid,
  score: v.pipe(Whole, v.description("on the survey's own scale")),
  comment: v.pipe(
    v.nullable(v.pipe(v.string(), v.maxLength(100))),
    v.description('its beginning; addresses, phone numbers and names are replaced'),
  ),
  timestamp: Moment,
});

const SurveyCompleted = v.object({
  version: Version,
  surveyId: Uuid,
  name: v.string(),
  responseCount: v.pipe(Whole, v.minValue(0)),
  nps: v.pipe(Nps, v.description('null without responses')),
  completionRate: v.pipe(v.number(), v.description('percentage of contacts who responded')),
  timestamp: Moment,
});

const SummaryGenerated = v.object({
  version: Version,
  reportType: v.pipe(v.string(), v.examples(['executive-summary'])),
  nps: v.pipe(Nps, v.description('of the period of the report')),
  topThemes: v.pipe(v.array(v.string()), v.maxLength(5)),
  timestamp: Moment,
});

const WebhookTest = v.object({
  version: Version,
  type: v.literal(testEvent),
  webhookId: Uuid,
  timestamp: Moment,
});

export const payloads = {
  'response.received': ResponseReceived,
  'detractor.detected': DetractorDetected,
  'survey.completed': SurveyCompleted,
  'summary.generated': SummaryGenerated,
};

/** The four events and the test, which is sent when asked for and never subscribed to. */
export const messages = [
  ...eventTypes.map(({ type, description }) => ({
    type: type as string,
    about: description as string,
    payload: payloads[type] as v.GenericSchema,
  })),
  {
    type: testEvent,
    about: 'A test that was asked for with POST /api/webhooks/{id}/test.',
    payload: WebhookTest as v.GenericSchema,
  },
];

/** The headers of a delivery, under the names of this deployment. */
export const messageHeaders = (serviceName: string) => ({
  [`X-${serviceName}-Signature`]:
    'lowercase hex HMAC-SHA256 of the raw body, keyed with the whole secret',
  [`X-${serviceName}-Event`]: 'the type of the event',
  [`X-${serviceName}-Delivery-Id`]: 'a UUID, the same at each attempt: drop what you have seen',
  'webhook-id': 'the same event has the same id, also when it is replayed (Standard Webhooks 1.0)',
  'webhook-timestamp': 'of this attempt, in seconds',
  'webhook-signature': 'the signatures of Standard Webhooks 1.0; two for a day after a rotation',
});
