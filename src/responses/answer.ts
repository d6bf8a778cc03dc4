import { Refusal } from '../errors.ts';
import type { Db } from '../lib/db/db.ts';
import { categoryOf, isScore, scaleOf } from '../scores.ts';
import type { AskedSurvey, Personal, Shared } from './answer.queries.ts';
import { recordAnswer } from './record.ts';
import { type HeldReason, judgeAnswer } from './rules.ts';
import type { Submission } from './submission.ts';

export const longestComment = 5000;

/** The beginning of a comment with nobody recognizable in it. */
export type Excerpt = (
  comment: string,
  known: { names: readonly string[]; emails: readonly string[] },
) => Promise<string>;

export type AnswerTools = { db: Db; pump: () => void; excerpt: Excerpt };

type Checked = { score: number; comment: string | null };

/** What became of an answer. Whether it was held is nobody's business but the organization's. */
export type Given = Checked & { id: string; at: Date };

/** Answers through a personal link, which `openPersonal` has opened with this score. */
export async function answerPersonal(tools: AnswerTools, link: Personal, filled: Submission) {
  refuseClosed(link);
  if (link.answered) throw alreadyAnswered();
  const checked = checkAnswer(link, filled);
  const held = judgeAnswer({ ...checked, trapped: filled.trapped, signals: link.signals });
  const contact = { id: link.contact_id, openContacts: link.open_contacts };
  const { traceparent } = filled;
  return await record(tools, link, { contact, checked, held, traceparent, at: link.now });
}

/** Answers through the shareable link: anybody may, and nobody is known. */
export async function answerShared(tools: AnswerTools, link: Shared, filled: Submission) {
  refuseClosed(link);
  if (link.answered) throw alreadyAnswered();
  const checked = checkAnswer(link, filled);
  const held = judgeAnswer({ ...checked, trapped: filled.trapped, signals: [] });
  const { traceparent } = filled;
  return await record(tools, link, { contact: null, checked, held, traceparent, at: link.now });
}

type Recording = {
  contact: { id: string; openContacts: number } | null;
  checked: Checked;
  held: HeldReason | null;
  traceparent: string | null;
  at: Date;
};

async function record(tools: AnswerTools, survey: AskedSurvey, recording: Recording) {
  const { contact, checked, held, traceparent, at } = recording;
  const recorded = await recordAnswer(tools, {
    orgId: survey.org_id,
    surveyId: survey.id,
    surveyType: survey.type,
    contact,
    ...checked,
    excerpt: held === null ? await excerptOf(tools, survey, checked) : null,
    heldReason: held,
    traceparent,
    at,
  });
  if (!recorded) throw alreadyAnswered();
  return { id: recorded.id, ...checked, at } satisfies Given;
}

async function excerptOf(
  { excerpt }: AnswerTools,
  survey: AskedSurvey,
  { score, comment }: Checked,
) {
  if (comment === null || categoryOf(survey.type, score) !== 'detractor') return null;
  return await excerpt(comment, { names: survey.known_names, emails: survey.known_addresses });
}

/** A survey that completed by itself still takes answers through its shareable link. */
function refuseClosed({ status, completed_by }: AskedSurvey) {
  if (status === 'draft') {
    throw new Refusal('invalid', 'this survey is not open yet', { code: 'survey_draft' });
  }
  if (completed_by === 'hand') {
    throw new Refusal('invalid', 'this survey is closed', { code: 'survey_closed' });
  }
}

export const alreadyAnswered = () =>
  new Refusal('conflict', 'this survey has been answered already', { code: 'already_answered' });

function checkAnswer({ type }: AskedSurvey, { score: given, comment }: Submission): Checked {
  const score = readScore(given);
  if (score === null || !isScore(type, score)) {
    const { lowest, highest } = scaleOf(type);
    throw new Refusal('invalid', `score must be a whole number from ${lowest} to ${highest}`, {
      code: 'score_invalid',
    });
  }
  const text = typeof comment === 'string' ? comment.replace(/\r\n?/g, '\n').trim() : null;
  if (comment !== undefined && comment !== null && text === null) {
    throw new Refusal('invalid', 'comment must be text', { code: 'comment_invalid' });
  }
  if (text !== null && [...text].length > longestComment) {
    throw new Refusal('invalid', `comment must have at most ${longestComment} characters`, {
      code: 'comment_too_long',
    });
  }
  return { score, comment: text || null };
}

/** A form sends digits, JSON a number. */
export function readScore(given: unknown): number | null {
  if (typeof given === 'number') return Number.isInteger(given) ? given : null;
  return typeof given === 'string' && /^\d{1,2}$/.test(given) ? Number(given) : null;
}
