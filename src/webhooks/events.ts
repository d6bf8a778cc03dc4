import {
  netPromoterScore,
  normalized,
  percentage,
  type SurveyType,
  type Tally,
} from '../scores.ts';

/** An event for subscribers, with the exact bytes that are signed and sent. */
export type WebhookEvent = { type: EventType; body: string };

export type EventType = (typeof eventTypes)[number]['type'];

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

const version = '1';
const mostThemes = 5;

type AnswerFacts = {
  surveyId: string;
  responseId: string;
  surveyType: SurveyType;
  score: number;
  at: Date;
};

/** Carries the score on 0 to 10, whatever the survey's own scale. */
export const responseReceived = ({
  comment,
  ...answer
}: AnswerFacts & { comment: string | null }) =>
  event('response.received', {
    surveyId: answer.surveyId,
    responseId: answer.responseId,
    score: normalized(answer.surveyType, answer.score),
    hasComment: comment !== null,
    surveyType: answer.surveyType,
    timestamp: answer.at,
  });

/** Carries the raw score, and of the comment only its redacted beginning. */
export const detractorDetected = ({
  excerpt,
  ...answer
}: AnswerFacts & { excerpt: string | null }) =>
  event('detractor.detected', {
    surveyId: answer.surveyId,
    responseId: answer.responseId,
    score: answer.score,
    comment: excerpt,
    timestamp: answer.at,
  });

type CompletionFacts = Tally & {
  surveyId: string;
  name: string;
  contacts: number;
  responded: number;
  at: Date;
};

export const surveyCompleted = ({
  surveyId,
  name,
  contacts,
  responded,
  at,
  ...tally
}: CompletionFacts) =>
  event('survey.completed', {
    surveyId,
    name,
    responseCount: tally.promoters + tally.passives + tally.detractors,
    nps: netPromoterScore(tally),
    completionRate: percentage(responded, contacts),
    timestamp: at,
  });

type SummaryFacts = { reportType: string; nps: number | null; themes: string[]; at: Date };

export const summaryGenerated = ({ reportType, nps, themes, at }: SummaryFacts) =>
  event('summary.generated', {
    reportType,
    nps,
    topThemes: themes.slice(0, mostThemes),
    timestamp: at,
  });

/** A Date becomes ISO 8601 by its own toJSON. */
const event = (type: EventType, fields: Record<string, unknown>): WebhookEvent => ({
  type,
  body: JSON.stringify({ version, ...fields }),
});
