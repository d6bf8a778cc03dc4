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

/** Payloads of version "1". Never remove a field or change its type. */
const Version = v.pipe(v.literal('1'), v.description('version of the payload'));
const Moment = v.pipe(v.string(), v.isoTimestamp());
const Uuid = v.pipe(v.string(), v.uuid());
const Whole = v.pipe(v.number(), v.integer());
const Nps = v.nullable(v.pipe(Whole, v.minValue(-100), v.maxValue(100)));

export const payloads = {
  'response.received': v.object({
    version: Version,
    surveyId: Uuid,
    responseId: Uuid,
    score: v.pipe(Whole, v.minValue(0), v.maxValue(10), v.description('normalized to 0-10')),
    hasComment: v.boolean(),
    surveyType: v.pipe(
      v.string(),
      v.description(
        `${surveyTypes.slice(0, -1).join(', ')} or ${surveyTypes.at(-1)}; more may be added`,
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
        'first 100 characters, with addresses, phone numbers and names replaced; in languages other than English, only known names and names after a title',
      ),
    ),
    timestamp: Moment,
  }),
  'response.completed': v.object({
    version: Version,
    surveyId: Uuid,
    responseId: Uuid,
    score: v.pipe(
      Whole,
      v.minValue(0),
      v.maxValue(10),
      v.description('normalized to 0-10, whatever the scale of the survey'),
    ),
    answers: v.array(
      v.object({
        questionId: v.string(),
        kind: v.picklist(['text', 'scale', 'choice', 'choices']),
        value: v.pipe(
          v.nullable(v.union([v.string(), Whole, v.array(v.string())])),
          v.description(
            'the beginning of a text, redacted like the comment of detractor.detected; a number; an option id; a list of option ids; null if only `other` was answered',
          ),
        ),
      }),
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
        'NPS of the `nps` responses of customers in the period; null if there are none',
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
  { type: 'response.received', description: 'A response was recorded.' },
  {
    type: 'detractor.detected',
    description: 'A response with the score of a detractor was recorded.',
  },
  {
    type: 'response.completed',
    description:
      'The follow-up questions of a response were answered: sent, or not changed for 30 minutes.',
  },
  {
    type: 'survey.completed',
    description: 'A survey was completed: every contact responded, or it was closed manually.',
  },
  { type: 'summary.generated', description: 'An executive summary was generated.' },
] as const;

/** Includes the test, which nobody can subscribe to. */
export const messages = [
  ...eventTypes.map(({ type, description }) => ({
    type: type as string,
    about: description as string,
    payload: payloads[type] as v.GenericSchema,
  })),
  {
    type: testEvent,
    about: 'A test requested with POST /api/webhooks/{id}/test.',
    payload: WebhookTest as v.GenericSchema,
  },
];

export const messageHeaders = (serviceName: string) => ({
  [`X-${serviceName}-Signature`]:
    'lowercase hex HMAC-SHA256 of the raw body, keyed with the whole secret',
  [`X-${serviceName}-Event`]: 'type of the event',
  [`X-${serviceName}-Delivery-Id`]: 'a UUID, the same for each attempt; use it to skip duplicates',
  'webhook-id': 'id of the event, also the same when it is replayed (Standard Webhooks 1.0)',
  'webhook-timestamp': 'time of this attempt in Unix seconds',
  'webhook-signature':
    'signatures of Standard Webhooks 1.0; two of them for 24 hours after a rotation',
});

/** `body` is exactly what is signed and sent. */
export type WebhookEvent = { type: EventType; body: string };

export type EventType = (typeof eventTypes)[number]['type'];

const version = '1';
const maxThemes = 5;

type ResponseFacts = {
  surveyId: string;
  responseId: string;
  surveyType: SurveyType;
  score: number;
  at: Date;
};

export const responseReceived = (response: ResponseFacts & { comment: string | null }) =>
  makeEvent('response.received', {
    surveyId: response.surveyId,
    responseId: response.responseId,
    score: normalized(response.surveyType, response.score),
    hasComment: response.comment !== null,
    surveyType: response.surveyType,
    timestamp: response.at,
  });

/** Events with personal data in their body. Erasures delete these bodies, and the events are not sent afterwards. */
export const personalEventTypes: readonly EventType[] = [
  'detractor.detected',
  'response.completed',
];

/** Part of the body of a personal event that has no excerpt. */
export const noExcerpt = '"comment":null';

/** Part of the body of each `response.completed` that has a text answer. */
export const textAnswer = '"kind":"text"';

export const detractorDetected = (response: ResponseFacts & { excerpt: string | null }) =>
  makeEvent('detractor.detected', {
    surveyId: response.surveyId,
    responseId: response.responseId,
    score: response.score,
    comment: response.excerpt,
    timestamp: response.at,
  });

export type CompletedAnswer = v.InferOutput<
  (typeof payloads)['response.completed']
>['answers'][number];

export const responseCompleted = (response: ResponseFacts & { answers: CompletedAnswer[] }) =>
  makeEvent('response.completed', {
    surveyId: response.surveyId,
    responseId: response.responseId,
    score: normalized(response.surveyType, response.score),
    answers: response.answers,
    timestamp: response.at,
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

const makeEvent = (type: EventType, fields: Record<string, unknown>): WebhookEvent => ({
  type,
  body: JSON.stringify({ version, ...fields }),
});
