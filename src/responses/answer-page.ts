import { randomUUID } from 'node:crypto';
import type { Context } from 'hono';
import { memoize } from '../lib/async/memoize.ts';
import { refusalIn, statusOf } from '../lib/http/http.ts';
import { isScore, type SurveyType } from '../scores.ts';
import { languageOf } from '../web/language.ts';
import type { HtmlPage } from '../web/layout.tsx';
import { readersLanguage, showPage } from '../web/show.ts';
import { wantsJson } from '../web/wants-json.ts';
import type { NewResponse } from './answer.queries.ts';
import type { SurveyLink } from './link.queries.ts';
import { readScore, type Submission } from './rules.ts';
import { type Complaint, formPage, trapField } from './view/form.tsx';
import { answeredPage, notSavedPage, notTakingAnswersPage, thanksPage } from './view/messages.tsx';

/** Where the link leads that no person sees, below the link of the survey. */
export const trapPath = 'x';

/** A link as it was requested: a contact's own (`s`) or the shareable one, and whether below it the hidden one. */
export type LinkAddress = { path: 's' | 'f'; token: string; trap: boolean };

const mostForms = 500;

/** What a survey's link shows now: the form, what was answered, or that it takes no answers. */
export function linkPage(link: SurveyLink, address: LinkAddress, chosen: unknown): HtmlPage {
  const page = pageOf(link);
  if (link.answered) {
    return answeredPage({ ...page, answer: { ...link.answered, at: new Date(link.answered.at) } });
  }
  if (link.status === 'draft') return notTakingAnswersPage('draft', page);
  if (link.completed_by === 'hand') return notTakingAnswersPage('closed', page);
  return emptyForm(link, address, chosenScore(link.type, chosen));
}

/** Stands for the token in a form that is kept for all links of its survey. It occurs in no question. */
const anyToken = randomUUID();

/** Rendered once for a survey and score: the forms of its links differ by their token alone. */
function emptyForm(link: SurveyLink, { path, token, trap }: LinkAddress, score: number | null) {
  const { survey } = pageOf(link);
  const { pieces, headers } = formPieces({ survey, path, trap, score });
  return { html: pieces.join(encodeURIComponent(token)), headers };
}

type FormLook = Pick<ReturnType<typeof pageOf>, 'survey'> &
  Omit<LinkAddress, 'token'> & { score: number | null };

const formPieces = memoize(mostForms, ({ survey, path, trap, score }: FormLook) => {
  const links = formLinks({ path, trap, token: anyToken });
  const form = formPage({ survey, language: languageOf(survey.language), ...links, score });
  return { pieces: form.html.split(anyToken), headers: form.headers };
});

/** Where a form is posted to, and what its page links to. */
function formLinks({ path, token, trap }: LinkAddress) {
  const own = `/${path}/${token}`;
  const trapUrl = `${own}/${trapPath}`;
  const unsubscribeUrl = path === 's' ? `/u/${token}` : null;
  return { action: trap ? trapUrl : own, trapUrl, unsubscribeUrl };
}

/** The response was recorded: thanks for people, JSON for programs. */
export function showRecorded(c: Context, link: SurveyLink, response: NewResponse): Response {
  const { id, score, comment, created_at: at } = response;
  if (wantsJson(c)) return c.json({ data: { id, score } }, 201);
  return showPage(c, thanksPage({ ...pageOf(link), answer: { score, comment, at } }));
}

type Refused = { link: SurveyLink | undefined; address: LinkAddress; submission: Submission };

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
  link: SurveyLink,
  address: LinkAddress,
  { code, submission }: { code: string; submission: Submission },
): HtmlPage {
  const complaint = complaintOf[code];
  if (!complaint) return linkPage(link, address, null);
  const comment = typeof submission.comment === 'string' ? submission.comment : '';
  const score = chosenScore(link.type, submission.score);
  return formPage({ ...pageOf(link), ...formLinks(address), complaint, comment, score });
}

const complaintOf: Readonly<Record<string, Complaint>> = {
  score_invalid: 'scoreMissing',
  comment_too_long: 'commentTooLong',
  rate_limited: 'tooManyAnswers',
  database_unavailable: 'notSaved',
};

/** A score of the survey's own scale, or none. */
function chosenScore(type: SurveyType, chosen: unknown): number | null {
  const score = readScore(chosen);
  return score !== null && isScore(type, score) ? score : null;
}

function pageOf({ type, question_text, language, organization, color }: SurveyLink) {
  const sender = { name: organization, color };
  return {
    survey: { type, question: question_text, language, sender },
    language: languageOf(language),
  };
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
