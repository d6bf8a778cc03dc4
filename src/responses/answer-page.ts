import type { Context } from 'hono';
import { refusalIn, statusOf } from '../lib/http/http.ts';
import { isScore, type SurveyType } from '../scores.ts';
import type { HtmlPage } from '../web/layout.tsx';
import { readersLanguage, showPage } from '../web/show.ts';
import { wantsJson } from '../web/wants-json.ts';
import type { NewResponse } from './answer.queries.ts';
import { emptyForm, formLinks } from './empty-form.ts';
import { type LinkAddress, pageOf, type ReadLink, thanksFor } from './read-link.ts';
import { readScore, type Submission } from './rules.ts';
import { type Complaint, formPage, trapField } from './view/form.tsx';
import { answeredPage, notSavedPage, notTakingAnswersPage, thanksPage } from './view/messages.tsx';

/** What a survey's link shows now: the form, what was answered, or that it takes no answers. */
export function linkPage(link: ReadLink, address: LinkAddress, chosen: unknown): HtmlPage {
  const page = pageOf(link);
  if (link.answered) {
    return answeredPage({ ...page, answer: { ...link.answered, at: new Date(link.answered.at) } });
  }
  if (link.status === 'draft') return notTakingAnswersPage('draft', page);
  if (link.completed_by === 'hand') return notTakingAnswersPage('closed', page);
  return emptyForm(link, address, chosenScore(link.type, chosen));
}

/** The response was recorded: thanks for people, JSON for programs. */
export function showRecorded(c: Context, link: ReadLink, response: NewResponse): Response {
  const { id, score, category, comment, created_at: at } = response;
  if (wantsJson(c)) return c.json({ data: { id, score } }, 201);
  const thanks = thanksFor(link, category);
  return showPage(c, thanksPage({ ...pageOf(link), thanks, answer: { score, comment, at } }));
}

type Refused = { link: ReadLink | undefined; address: LinkAddress; submission: Submission };

/**
 * The answer was refused: people see the form again with what they wrote, or what the link shows instead.
 * What they wrote is not even lost when the database is away and nothing is known of the link. Programs,
 * and requests that failed for another reason, get the error as any other request does.
 */
export function showRefusal(c: Context, error: unknown, refused: Refused): Response {
  const refusal = refusalIn(error);
  const { link, address, submission } = refused;
  if (!refusal || wantsJson(c)) throw error;
  const { kind, code, retryInSeconds } = refusal;
  if (!link && kind !== 'unavailable') throw error;
  if (retryInSeconds !== undefined) c.header('Retry-After', String(retryInSeconds));
  const page = link ? refusedPage(link, address, { code, submission }) : inputPage(c, submission);
  return showPage(c, page, statusOf[kind]);
}

function refusedPage(
  link: ReadLink,
  address: LinkAddress,
  { code, submission }: { code: string; submission: Submission },
): HtmlPage {
  const complaint = complaintOf[code];
  if (!complaint) return linkPage(link, address, null);
  const comment = typeof submission.comment === 'string' ? submission.comment : '';
  const score = chosenScore(link.type, submission.score);
  const { properties } = submission;
  const carried = properties ? { properties: JSON.stringify(properties) } : {};
  return formPage({ ...pageOf(link), ...formLinks(address), complaint, comment, score, carried });
}

const complaintOf: Readonly<Record<string, Complaint>> = {
  score_invalid: 'scoreMissing',
  comment_too_long: 'commentTooLong',
  rate_limited: 'tooManyAnswers',
  database_unavailable: 'notSaved',
  database_full: 'notSaved',
  too_busy: 'notSaved',
};

/** A score of the survey's own scale, or none. */
function chosenScore(type: SurveyType, chosen: unknown): number | null {
  const score = readScore(chosen);
  return score !== null && isScore(type, score) ? score : null;
}

function inputPage(c: Context, { score, comment, honeypotHit }: Submission): HtmlPage {
  const entered = { score, comment, [trapField]: honeypotHit ? 'x' : undefined };
  const fields = Object.fromEntries(
    Object.entries(entered).filter(
      (field): field is [string, string] => typeof field[1] === 'string',
    ),
  );
  return notSavedPage(readersLanguage(c), { action: c.req.path, fields });
}
