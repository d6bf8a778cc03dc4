import { type Context, Hono } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import { notFound, Refusal } from '../errors.ts';
import { limitAddress } from '../keys/limit.ts';
import { clientAddress } from '../platform/address.ts';
import { isUuid } from '../platform/parse.ts';
import { languageOf } from '../web/language.ts';
import type { Page } from '../web/layout.tsx';
import {
  type AskedSurvey,
  findShared,
  openPersonal,
  type Personal,
  type Shared,
} from './answer.queries.ts';
import { type AnswerTools, answerPersonal, answerShared, readScore } from './answer.ts';
import { type Filled, readFilled, wantsJson } from './filled.ts';
import { type Complaint, formPage } from './form.tsx';
import { answeredPage, nobodysPage, notTakingAnswersPage, thanksPage } from './messages.tsx';

const sharedAnswersPerMinute = 300;
const rememberedSeconds = 365 * 24 * 3600;
/** Where the link leads that no person sees, below a personal link. */
const trapPath = 'x';

type PageTools = AnswerTools & { publicUrl: string };

/** The pages where answers are given. Opening one never counts: the answer is the POST. */
export const answerPages = (tools: PageTools) =>
  new Hono()
    .on(['GET', 'HEAD'], '/s/:token', (c) => showPersonal(c, tools, 'view'))
    .on(['GET', 'HEAD'], `/s/:token/${trapPath}`, (c) => showPersonal(c, tools, 'trap'))
    .post('/s/:token', (c) => takePersonal(c, tools, false))
    .post(`/s/:token/${trapPath}`, (c) => takePersonal(c, tools, true))
    .on(['GET', 'HEAD'], '/f/:share_id', (c) => showShared(c, tools))
    .post('/f/:share_id', (c) => takeShared(c, tools));

async function showPersonal(c: Context, { db }: PageTools, kind: 'view' | 'trap') {
  const score = readScore(c.req.query('score'));
  const opening = { kind, method: c.req.method, score };
  const link = await openPersonal(db, c.req.param('token') ?? '', opening);
  return link ? showPage(c, surveyPage(c, link, personalForm(link, kind))) : nobodys(c);
}

async function showShared(c: Context, { db }: PageTools) {
  const shareId = c.req.param('share_id') ?? '';
  const link = await findShared(db, shareId, rememberedAnswer(c, shareId));
  return link ? showPage(c, surveyPage(c, link, sharedForm(link))) : nobodys(c);
}

async function takePersonal(c: Context, tools: PageTools, inTrap: boolean) {
  const filled = await readFilled(c);
  const score = readScore(filled.score);
  const opening = { kind: 'post', method: 'POST', score } as const;
  const link = await openPersonal(tools.db, c.req.param('token') ?? '', opening);
  if (!link) return nobodys(c);
  const trapped = filled.trapped || inTrap;
  const form = personalForm(link, 'view');
  return await answering(c, { link, form, filled }, () =>
    answerPersonal(tools, link, { ...filled, trapped }),
  );
}

async function takeShared(c: Context, tools: PageTools) {
  const shareId = c.req.param('share_id') ?? '';
  const address = clientAddress(c);
  await limitAddress(tools.db, { what: 'share', address, quota: sharedAnswersPerMinute });
  const filled = await readFilled(c);
  const link = await findShared(tools.db, shareId, rememberedAnswer(c, shareId));
  if (!link) return nobodys(c);
  return await answering(c, { link, form: sharedForm(link), filled }, async () => {
    const given = await answerShared(tools, link, filled);
    rememberAnswer(c, tools, { shareId, answerId: given.id });
    return given;
  });
}

type Form = { action: string; trapUrl: string; unsubscribeUrl: string | null };
type Answering = {
  link: AskedSurvey & { answered: Personal['answered'] };
  form: Form;
  filled: Filled;
};
type Given = Awaited<ReturnType<typeof answerPersonal>>;

/** Answers in the caller's language: pages for people, JSON for programs. */
async function answering(
  c: Context,
  { link, form, filled }: Answering,
  answer: () => Promise<Given>,
) {
  try {
    const given = await answer();
    if (wantsJson(c)) return c.json({ data: { id: given.id, score: given.score } }, 201);
    return showPage(c, thanksPage({ ...pageOf(link), answer: given }));
  } catch (error) {
    if (wantsJson(c) || !(error instanceof Refusal)) throw error;
    const complaint = complaintOf[error.code];
    if (!complaint)
      return showPage(c, surveyPage(c, link, form), error.kind === 'conflict' ? 409 : 400);
    const { survey, language } = pageOf(link);
    const comment = typeof filled.comment === 'string' ? filled.comment : '';
    const score = readScore(filled.score);
    return showPage(c, formPage({ survey, language, ...form, complaint, comment, score }), 400);
  }
}

const complaintOf: Readonly<Record<string, Complaint>> = {
  score_invalid: 'scoreMissing',
  comment_too_long: 'commentTooLong',
};

/** What a survey's link shows now: that it takes no answers, what was answered, or the form. */
function surveyPage(c: Context, link: Answering['link'], form: Form): Page {
  const { survey, language } = pageOf(link);
  if (link.answered) {
    const answer = { ...link.answered, at: new Date(link.answered.at) };
    return answeredPage({ survey, language, answer });
  }
  if (link.status === 'draft') return notTakingAnswersPage('draft', { survey, language });
  if (link.completed_by === 'hand') return notTakingAnswersPage('closed', { survey, language });
  return formPage({ survey, language, ...form, score: readScore(c.req.query('score')) });
}

const personalForm = ({ token }: Personal, kind: 'view' | 'trap'): Form => ({
  action: kind === 'trap' ? `/s/${token}/${trapPath}` : `/s/${token}`,
  trapUrl: `/s/${token}/${trapPath}`,
  unsubscribeUrl: `/u/${token}`,
});

const sharedForm = ({ share_id }: Shared): Form => ({
  action: `/f/${share_id}`,
  trapUrl: `/f/${share_id}`,
  unsubscribeUrl: null,
});

function pageOf({ type, question_text, language, organization, color }: AskedSurvey) {
  const sender = { name: organization, color };
  return {
    survey: { type, question: question_text, language, sender },
    language: languageOf(language),
  };
}

type Status = 200 | 400 | 404 | 409;

const showPage = (c: Context, { html, headers }: Page, status: Status = 200) =>
  c.html(html, status, headers);

function nobodys(c: Context) {
  if (wantsJson(c)) throw notFound('survey');
  const [tag = 'en'] = (c.req.header('Accept-Language') ?? '').split(/[,;]/);
  return showPage(c, nobodysPage('notFound', languageOf(tag)), 404);
}

/** Once a browser: the answer's id is all that it keeps, and only for this survey's address. */
function rememberedAnswer(c: Context, shareId: string): string | null {
  const remembered = getCookie(c, cookieOf(shareId));
  return remembered && isUuid(remembered) ? remembered : null;
}

type Remembered = { shareId: string; answerId: string };

function rememberAnswer(c: Context, { publicUrl }: PageTools, { shareId, answerId }: Remembered) {
  setCookie(c, cookieOf(shareId), answerId, {
    path: `/f/${shareId}`,
    maxAge: rememberedSeconds,
    httpOnly: true,
    sameSite: 'Lax',
    secure: publicUrl.startsWith('https:'),
  });
}

const cookieOf = (shareId: string) => `answered_${shareId}`;
