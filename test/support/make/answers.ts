import { Refusal } from '../../../src/errors.ts';
import type { Db } from '../../../src/lib/db/db.ts';
import type { SurveyLink } from '../../../src/responses/answer.queries.ts';
import {
  type AnswerTools,
  answerSurvey,
  createAnswerRecorder,
  type RecordAnswer,
} from '../../../src/responses/answer.ts';
import type { Submission } from '../../../src/responses/rules.ts';

type Asked = { orgId: string; surveyId: string; contactId: string | null };

/** A link as read from an open NPS survey a moment ago. */
export const linkOf = (
  { orgId, surveyId, contactId }: Asked,
  over: Partial<SurveyLink> = {},
): SurveyLink => ({
  org_id: orgId,
  survey_id: surveyId,
  contact_id: contactId,
  type: 'nps',
  status: 'active',
  question_text: 'How likely?',
  language: 'en',
  organization: 'Acme',
  color: '#2f6fed',
  logo: null,
  follow_up: null,
  thanks: null,
  texts: {},
  questions: [],
  embed: {},
  person: null,
  completed_by: null,
  known_names: [],
  known_addresses: [],
  analyzes_comments: true,
  subscribed_events: ['response.received', 'detractor.detected', 'survey.completed'],
  answered: null,
  visits: [],
  mail_traceparent: null,
  now: new Date(),
  ...over,
});

const recorders = new WeakMap<Db, RecordAnswer>();

/** Answers through the same pool are grouped, as in one process. */
function recorderOf(db: Db): RecordAnswer {
  const recorder = recorders.get(db) ?? createAnswerRecorder(db);
  recorders.set(db, recorder);
  return recorder;
}

type Given = Partial<Submission> & { tools?: Partial<AnswerTools> };

/** Submits an answer through a link. Returns undefined if the survey no longer accepts answers. */
export async function answerThrough(db: Db, link: SurveyLink, { tools, ...posted }: Given = {}) {
  const empty = { comment: null, honeypotHit: false, properties: null, traceparent: null };
  const submission = { score: 9, language: 'en', ...empty, ...posted };
  const deliveries = { owner: () => null, start: () => {} };
  const excerpt = async (comment: string) => comment;
  const all = { db, record: recorderOf(db), deliveries, excerpt, ...tools };
  try {
    return await answerSurvey(all, link, { ...submission, address: '192.0.2.1' });
  } catch (error) {
    if (error instanceof Refusal && error.kind === 'conflict') return undefined;
    throw error;
  }
}
