import * as v from 'valibot';
import {
  netPromoterScore,
  normalized,
  percentage,
  type SurveyType,
  surveyTypes,
  type Tally,
} from '../survey-types.ts';
import { testEvent } from './rules.ts';

/** The payloads, for the document: within version "1" no field is removed or changes its type. */
const Version = v.pipe(v.literal('1'), v.description('the version of the payload'));
const Moment = v.pipe(v.string(), v.isoTimestamp());
const Uuid = v.pipe(v.string(), v.uuid());
const Whole = v.pipe(v.number(), v.integer());
const Nps = v.nullable(v.pipe(Whole, v.minValue(-100), v.maxValue(100)));

export const payloads = {
  'response.received': v.object({
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
    surveyType: v.pipe(
      v.string(),
      v.description(
        `${surveyTypes.slice(0, -1).join(', ')} or ${surveyTypes.at(-1)}; more may come`,
      ),
    ),
    timestamp: v.pipe(Moment, v.description('when the response was recorded')),
  }),
  'detractor.detected': v.object({
    version: Version,
    surveyId: Uuid,
    responseId: Uuid,
    score: v.pipe(Whole, v.description("on the survey's own scale")),
    comment: v.pipe(
      v.nullable(v.pipe(v.string(), v.maxLength(100))),
      v.description(
        'its beginning; addresses and phone numbers are replaced, and names: in English all that are found, else known names and those after a form of address',
      ),
    ),
    timestamp: Moment,
  }),
  'survey.completed': v.object({
    version: Version,
    surveyId: Uuid,
    name: v.string(),
    responseCount: v.pipe(Whole, v.minValue(0)),
    nps: v.pipe(Nps, v.description('null without responses')),
    completionRate: v.pipe(v.number(), v.description('percentage of contacts who responded')),
    timestamp: Moment,
  }),
  'summary.generated': v.object({
    version: Version,
    reportType: v.pipe(v.string(), v.examples(['executive-summary'])),
    nps: v.pipe(
      Nps,
      v.description(
        'of the `nps` responses of customers in the period of the report; null if there are none',
      ),
    ),
    topThemes: v.pipe(v.array(v.string()), v.maxLength(5)),
    timestamp: Moment,
  }),
};

const WebhookTest = v.object({
  version: Version,
  type: v.literal(testEvent),
  webhookId: Uuid,
  timestamp: Moment,
});

export const eventTypes = [
  { type: 'response.received', description: 'A new answer to a survey was recorded.' },
  {
    type: 'detractor.detected',
    description: 'An answer with a detractor-level score was recorded.',
  },
  {
    type: 'survey.completed',
    description: 'A survey was completed: every contact answered, or it was closed by hand.',
  },
  { type: 'summary.generated', description: 'An executive summary was generated.' },
] as const;

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

/** An event for subscribers, with the exact bytes that are signed and sent. */
export type WebhookEvent = { type: EventType; body: string };

export type EventType = (typeof eventTypes)[number]['type'];

const version = '1';
const maxThemes = 5;

type AnswerFacts = {
  surveyId: string;
  responseId: string;
  surveyType: SurveyType;
  score: number;
  at: Date;
};

/** Carries the score on 0 to 10, whatever the survey's own scale. */
export const responseReceived = (answer: AnswerFacts & { comment: string | null }) =>
  makeEvent('response.received', {
    surveyId: answer.surveyId,
    responseId: answer.responseId,
    score: normalized(answer.surveyType, answer.score),
    hasComment: answer.comment !== null,
    surveyType: answer.surveyType,
    timestamp: answer.at,
  });

/** Carries the raw score, and of the comment only its redacted beginning. */
export const detractorDetected = (answer: AnswerFacts & { excerpt: string | null }) =>
  makeEvent('detractor.detected', {
    surveyId: answer.surveyId,
    responseId: answer.responseId,
    score: answer.score,
    comment: answer.excerpt,
    timestamp: answer.at,
  });

type CompletionFacts = Tally & {
  surveyId: string;
  name: string;
  contacts: number;
  responded: number;
  at: Date;
};

export const surveyCompleted = (survey: CompletionFacts) =>
  makeEvent('survey.completed', {
    surveyId: survey.surveyId,
    name: survey.name,
    responseCount: survey.promoters + survey.passives + survey.detractors,
    nps: netPromoterScore(survey),
    completionRate: percentage(survey.responded, survey.contacts),
    timestamp: survey.at,
  });

type SummaryFacts = { reportType: string; nps: number | null; themes: string[]; at: Date };

export const summaryGenerated = ({ reportType, nps, themes, at }: SummaryFacts) =>
  makeEvent('summary.generated', {
    reportType,
    nps,
    topThemes: themes.slice(0, maxThemes),
    timestamp: at,
  });

/** A Date becomes ISO 8601 by its own toJSON. */
const makeEvent = (type: EventType, fields: Record<string, unknown>): WebhookEvent => ({
  type,
  body: JSON.stringify({ version, ...fields }),
});
