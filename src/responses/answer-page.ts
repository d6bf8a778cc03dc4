import type { Context } from 'hono';
import type { Refusal } from '../errors.ts';
import { refusalIn, statusOf } from '../lib/http/http.ts';
import { isScore, type SurveyType } from '../scores.ts';
import { languageOf } from '../web/language.ts';
import type { Page } from '../web/layout.tsx';
import { readersLanguage, showPage } from '../web/show.ts';
import { wantsJson } from '../web/wants-json.ts';
import type { AskedSurvey, Personal } from './answer.queries.ts';
import { type Given, readScore } from './answer.ts';
import { type Complaint, formPage, trapField } from './form.tsx';
import { answeredPage, notSavedPage, notTakingAnswersPage, thanksPage } from './messages.tsx';
import type { Submission } from './submission.ts';

export type Asked = AskedSurvey & { answered: Personal['answered'] };
export type Form = { action: string; trapUrl: string; unsubscribeUrl: string | null };

type Answering = {
  link: Asked;
  form: Form;
  filled: Submission;
  answer: () => Promise<Given>;
  /** Looks again, when the link turned out to show something else by now. */
  find: () => Promise<Asked | undefined>;
};

/** Answers in the caller's language: pages for people, JSON for programs. */
export async function answering(c: Context, taken: Answering): Promise<Response> {
  try {
    const given = await taken.answer();
    if (wantsJson(c)) return c.json({ data: { id: given.id, score: given.score } }, 201);
    return showPage(c, thanksPage({ ...pageOf(taken.link), answer: given }));
  } catch (error) {
    const refusal = refusalIn(error);
    if (!refusal || wantsJson(c)) throw error;
    return await complain(c, refusal, taken);
  }
}

/** The form again with what was written, or what the link shows instead of it. */
async function complain(c: Context, refusal: Refusal, { link, form, filled, find }: Answering) {
  const { kind, code, retryInSeconds } = refusal;
  if (retryInSeconds !== undefined) c.header('Retry-After', String(retryInSeconds));
  const complaint = complaintOf[code];
  if (!complaint) {
    const now = kind === 'conflict' ? await find() : undefined;
    return showPage(c, surveyPage(c, now ?? link, form), statusOf[kind]);
  }
  const comment = typeof filled.comment === 'string' ? filled.comment : '';
  const score = chosenScore(link.type, filled.score);
  return showPage(
    c,
    formPage({ ...pageOf(link), ...form, complaint, comment, score }),
    statusOf[kind],
  );
}

const complaintOf: Readonly<Record<string, Complaint>> = {
  score_invalid: 'scoreMissing',
  comment_too_long: 'commentTooLong',
  rate_limited: 'tooManyAnswers',
  database_unavailable: 'notSaved',
};

/** What a survey's link shows now: what was answered, that it takes no answers, or the form. */
export function surveyPage(c: Context, link: Asked, form: Form): Page {
  const page = pageOf(link);
  if (link.answered) {
    return answeredPage({ ...page, answer: { ...link.answered, at: new Date(link.answered.at) } });
  }
  if (link.status === 'draft') return notTakingAnswersPage('draft', page);
  if (link.completed_by === 'hand') return notTakingAnswersPage('closed', page);
  return formPage({ ...page, ...form, score: chosenScore(link.type, c.req.query('score')) });
}

/** A score of the survey's own scale, or none. */
function chosenScore(type: SurveyType, given: unknown): number | null {
  const score = readScore(given);
  return score !== null && isScore(type, score) ? score : null;
}

function pageOf({ type, question_text, language, organization, color }: AskedSurvey) {
  const sender = { name: organization, color };
  return {
    survey: { type, question: question_text, language, sender },
    language: languageOf(language),
  };
}

/**
 * What somebody wrote is not lost when the database is away before it is even known whose survey it is:
 * they get it back, to be sent again.
 */
export async function keepWritten(c: Context, filled: Submission, take: () => Promise<Response>) {
  try {
    return await take();
  } catch (error) {
    const refusal = refusalIn(error);
    if (wantsJson(c) || refusal?.kind !== 'unavailable') throw error;
    c.header('Retry-After', String(refusal.retryInSeconds));
    const page = { action: c.req.path, fields: fieldsOf(filled) };
    return showPage(c, notSavedPage(readersLanguage(c), page), statusOf[refusal.kind]);
  }
}

function fieldsOf({ score, comment, trapped }: Submission): Record<string, string> {
  const fields = { score, comment, [trapField]: trapped ? 'x' : undefined };
  return Object.fromEntries(
    Object.entries(fields).filter(
      (field): field is [string, string] => typeof field[1] === 'string',
    ),
  );
}
