import { createHash } from 'node:crypto';
import { type Context, Hono } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import { createMiddleware } from 'hono/factory';
import { orNotFound, Refusal, statusOf } from '../errors.ts';
import { type Db, violates } from '../lib/db/db.ts';
import { inGroup, requestWaitMs } from '../lib/db/fair-pool.ts';
import { readBody } from '../lib/http/body.ts';
import { clientAddress } from '../lib/http/client-address.ts';
import { refusalIn } from '../lib/http/http.ts';
import { linkTrace } from '../lib/http/request-spans.ts';
import { isUuid, parseJson } from '../lib/validation/parse.ts';
import { logoPath } from '../organizations/logo.ts';
import { questionsFor } from '../questions/definition.ts';
import type { QuestionsProps } from '../questions/view.tsx';
import { type Category, categoryOf, isScore } from '../survey-types.ts';
import { shareIdOfTest } from '../surveys/lifecycle.ts';
import { embeddingOf } from '../surveys/schemas.ts';
import {
  anyPerson,
  type FollowUp,
  fillIn,
  languageFor,
  type ThanksWithLink,
  type TranslatedSurvey,
  textsIn,
} from '../surveys/texts.ts';
import { readWebAsset } from '../web/app/assets.ts';
import { hashSource, sendsJson, wantsJson } from '../web/headers.ts';
import { languageOf } from '../web/language.ts';
import type { HtmlPage } from '../web/layout.tsx';
import { readersLanguage, showPage } from '../web/show.ts';
import {
  type AnsweredResponse,
  findSharedLink,
  type NewResponse,
  type SurveyLink,
  visitPersonalLink,
} from './answer.queries.ts';
import { type AnswerTools, answerSurvey, createAnswerRecorder } from './answer.ts';
import {
  areFinal,
  checkSubmission,
  type LinkVisit,
  readEmbedProperties,
  readScore,
  type Submission,
} from './rules.ts';
import { type Complaint, formPage, trapField } from './view/form.tsx';
import { answeredPage, notSavedPage, notTakingAnswersPage, thanksPage } from './view/messages.tsx';

const maxSubmissionBytes = 64 * 1024;
const cookieSeconds = 365 * 24 * 3600;

type PageTools = AnswerTools & { publicUrl: string };

/** Only a POST records an answer. Opening a link never does. */
export function answerPages(settings: Omit<PageTools, 'record'>) {
  const tools = { ...settings, record: createAnswerRecorder(settings.db) };
  const pages = new Hono().use('/e/*', inFrame).route('/', embedScript());
  for (const path of linkPaths) {
    for (const trap of [false, true]) {
      const name = path === 's' ? 'token' : 'share_id';
      const route = trap ? `/${path}/:${name}/${trapPath}` : `/${path}/:${name}`;
      const addressOf = (c: Context) => ({ path, trap, token: c.req.param(name) ?? '' });
      pages.on(['GET', 'HEAD'], route, (c) => showLink(c, tools, addressOf(c)));
      pages.post(route, (c) => takeAnswer(c, tools, addressOf(c)));
    }
  }
  return pages;
}

async function showLink(c: Context, { db }: PageTools, address: LinkAddress) {
  const chosen = c.req.query('score');
  const visit = { kind: address.trap ? 'trap' : 'view', score: readScore(chosen) } as const;
  const link = await visitLink(c, db, { address, visit });
  if (c.req.query('finish') === undefined) return showPage(c, linkPage(link, address, chosen));
  const { answered } = link;
  return showPage(c, thanksPage({ ...pageOf(link), answer: answered && shownAnswer(answered) }));
}

async function takeAnswer(c: Context, tools: PageTools, address: LinkAddress) {
  const body = await readBody(c, maxSubmissionBytes);
  const submission = readSubmission(c, body, address.trap);
  const score = readScore(submission.score);
  const visitAs = (kind: 'post' | 'view') =>
    visitLink(c, tools.db, { address, visit: { kind, score } });
  let link: ReadLink | undefined;
  try {
    const opened = await visitAs('post');
    link = opened;
    if (opened.isTest) {
      const answer = checkSubmission(opened.type, submission);
      return showThanks(c, { link, address }, { ...answer, id: null, created_at: new Date() });
    }
    const answer = { ...submission, address: clientAddress(c), language: opened.shown_in };
    const response = await inGroup(opened.org_id, () => answerSurvey(tools, opened, answer), {
      kind: 'answers',
      waitMs: requestWaitMs,
    });
    if (address.path === 'f') setAnsweredCookie(c, tools, address, response.id);
    return showThanks(c, { link, address }, response);
  } catch (error) {
    const kind = refusalIn(error)?.kind;
    if (kind === 'not_found') throw error;
    // Another answer arrived first, so the link now shows a different page.
    if (link && kind === 'conflict') link = await visitAs('view');
    return showRefusal(c, error, { link, address, submission, body });
  }
}

/** `trap`: the submission was posted to the hidden link. */
function readSubmission(c: Context, body: string, trap: boolean): Submission {
  const fields = sendsJson(c) ? readObject(body) : Object.fromEntries(new URLSearchParams(body));
  const filledIn = fields[trapField] !== undefined && fields[trapField] !== '';
  return {
    score: fields['score'],
    comment: fields['comment'],
    honeypotHit: trap || filledIn,
    properties: readEmbedProperties(fields['properties']),
    traceparent: c.get('traceparent') ?? null,
  };
}

export function readObject(body: string): Record<string, unknown> {
  const value = parseJson(body);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return value as Record<string, unknown>;
  }
  throw new Refusal('invalid', 'the body must be a JSON object', { code: 'invalid_json' });
}

type Visited = { address: LinkAddress; visit: Pick<LinkVisit, 'kind' | 'score'> };

async function visitLink(c: Context, db: Db, { address, visit }: Visited): Promise<ReadLink> {
  const newVisit = { ...visit, method: c.req.method };
  const link = await findLink(c, db, address, async () => {
    const personal = await visitPersonalLink(db, address.token, newVisit).catch(
      (error: unknown) => {
        if (violates(error, 'visits_belong_to_contact')) return undefined; // deleted in the meantime
        throw error;
      },
    );
    linkTrace(c, personal?.mail_traceparent ?? null);
    return personal;
  });
  return orNotFound(link, 'survey');
}

/** The response of a frame is `responseId`, because a frame has no cookie. */
export async function findLink(
  c: Context,
  db: Db,
  { path, token }: Pick<LinkAddress, 'path' | 'token'>,
  findPersonal: () => Promise<SurveyLink | undefined>,
  responseId: string | null = null,
): Promise<ReadLink | undefined> {
  const tested = path === 's' ? shareIdOfTest(token) : undefined;
  const isTest = tested !== undefined;
  if (path === 's' && !isTest) return readLink(c, await findPersonal(), isTest);
  const answered = path === 'f' ? readAnsweredCookie(c, token) : path === 'e' ? responseId : null;
  const link = await findSharedLink(db, tested ?? token, answered);
  if (link && path === 'e') c.set('frameOrigins', embeddingOf(link.embed).origins);
  return readLink(c, link, isTest);
}

function readAnsweredCookie(c: Context, shareId: string): string | null {
  const responseId = getCookie(c, cookieOf(shareId));
  return responseId && isUuid(responseId) ? responseId : null;
}

/** Contains only the response's id. The cookie's path limits it to this survey. */
const setAnsweredCookie = (
  c: Context,
  { publicUrl }: PageTools,
  { token }: LinkAddress,
  responseId: string,
) =>
  setCookie(c, cookieOf(token), responseId, {
    path: `/f/${token}`,
    maxAge: cookieSeconds,
    httpOnly: true,
    sameSite: 'Lax',
    secure: publicUrl.startsWith('https:'),
  });

const cookieOf = (shareId: string) => `answered_${shareId}`;

/** The form, the earlier answer, or a page that says the survey is closed. */
function linkPage(link: ReadLink, address: LinkAddress, chosen: unknown): HtmlPage {
  const page = pageOf(link);
  if (link.answered) {
    const isFinal = areFinal(link, link.answered);
    const questions = followUpOf(link, address, link.answered);
    return answeredPage({ ...page, answer: shownAnswer(link.answered), questions, isFinal });
  }
  if (link.status === 'draft' && !link.isTest) return notTakingAnswersPage('draft', page);
  if (link.completed_by === 'hand') return notTakingAnswersPage('closed', page);
  return surveyForm(link, address, { score: chosen, properties: link.embed_properties });
}

const shownAnswer = ({ score, comment, at }: AnsweredResponse) => ({
  score,
  comment,
  at: new Date(at),
});

/** The follow-up questions for a response with its answers, or undefined if there are no questions. */
export function followUpOf(
  link: ReadLink,
  { path, token }: Pick<LinkAddress, 'path' | 'token'>,
  { id, score, answers }: Pick<AnsweredResponse, 'id' | 'score' | 'answers'>,
): QuestionsProps | undefined {
  const asked = questionsFor(link.questions, categoryOf(link.type, score), link.shown_in);
  if (asked.length === 0) return undefined;
  const own = `/${path}/${token}`;
  return {
    questions: asked.map((each) => ({ ...each, text: fillIn(each.text, personOf(link)) })),
    answers,
    language: link.shown_in,
    texts: languageOf(link.shown_in).texts,
    action: `${own}/answers`,
    finish: `${own}?finish`,
    // The form carries these values, because a frame has no cookie and the score of a test is not stored.
    carried: link.isTest ? { score: String(score) } : path === 'e' ? { response_id: id } : {},
  };
}

type Shown = { link: ReadLink; address: LinkAddress };
type Given = Pick<NewResponse, 'score' | 'comment' | 'created_at'> & { id: string | null };

/** Shows a thank-you page to people, and JSON to programs. An answer through a test email has no id. */
function showThanks(c: Context, { link, address }: Shown, answer: Given): Response {
  const { id, score, comment, created_at: at } = answer;
  if (wantsJson(c)) return c.json({ data: { id, score } }, id === null ? 200 : 201);
  const thanks = thanksFor(link, categoryOf(link.type, score));
  const questions = followUpOf(link, address, { id: id ?? '', score, answers: {} });
  return showPage(
    c,
    thanksPage({ ...pageOf(link), thanks, answer: { score, comment, at }, questions }),
  );
}

type Refused = {
  link: ReadLink | undefined;
  address: LinkAddress;
  submission: Submission;
  body: string;
};

/**
 * People get the form back with their input, even while the database is down and the link cannot be looked up. Programs
 * get the error. Internal errors are thrown for both.
 */
function showRefusal(
  c: Context,
  error: unknown,
  { link, address, submission, body }: Refused,
): Response {
  const refusal = refusalIn(error);
  if (!refusal || wantsJson(c)) throw error;
  const { kind, code, retryInSeconds } = refusal;
  if (!link && kind !== 'unavailable') throw error;
  if (retryInSeconds !== undefined) c.header('Retry-After', String(retryInSeconds));
  if (!link) {
    const entered = [...new URLSearchParams(body)].filter(([name]) => formFields.includes(name));
    const again = { action: c.req.path, fields: Object.fromEntries(entered) };
    return showPage(c, notSavedPage(readersLanguage(c), again), statusOf[kind]);
  }
  const complaint = complaintOf[code];
  const page = complaint
    ? surveyForm(link, address, { ...submission, complaint })
    : linkPage(link, address, null);
  return showPage(c, page, statusOf[kind]);
}

const complaintOf: Readonly<Record<string, Complaint>> = {
  score_invalid: 'scoreMissing',
  comment_too_long: 'commentTooLong',
  rate_limited: 'tooManyAnswers',
  database_unavailable: 'notSaved',
  database_full: 'notSaved',
  too_busy: 'notSaved',
};

const formFields = ['score', 'comment', 'properties', trapField];

type Entered = Pick<Submission, 'score' | 'properties'> & {
  comment?: unknown;
  complaint?: Complaint;
};

function surveyForm(
  link: ReadLink,
  { path, token, trap }: LinkAddress,
  { score: chosen, properties, comment, complaint }: Entered,
): HtmlPage {
  const score = readScore(chosen);
  const formUrl = `/${path}/${token}`;
  const trapUrl = `${formUrl}/${trapPath}`;
  return formPage({
    ...pageOf(link),
    action: trap ? trapUrl : formUrl,
    trapUrl,
    unsubscribeUrl: path === 's' ? `/u/${token}` : null,
    score: score !== null && isScore(link.type, score) ? score : null,
    comment: typeof comment === 'string' ? comment : '',
    complaint: complaint ?? null,
    inFrame: path === 'e',
    hiddenFields: properties ? { properties: JSON.stringify(properties) } : {},
  });
}

const trapPath = 'x';

/** The kinds of links: personal, shareable, and embedded in a website. */
export const linkPaths = ['s', 'f', 'e'] as const;

export type LinkAddress = { path: (typeof linkPaths)[number]; token: string; trap: boolean };

export type ReadLink = SurveyLink & {
  isTest: boolean;
  shown_in: string;
  embed_properties: ReturnType<typeof readEmbedProperties>;
};

function readLink(c: Context, link: SurveyLink | undefined, isTest: boolean) {
  if (!link) return undefined;
  const accepted = c.req.header('Accept-Language');
  const property = link.person?.properties['language'];
  const embed_properties =
    link.contact_id === null ? readEmbedProperties(c.req.query('properties')) : null;
  return { ...link, isTest, shown_in: languageFor(link, { property, accepted }), embed_properties };
}

/** The part of a link that its pages show. */
type ShownLink = TranslatedSurvey &
  Pick<ReadLink, 'type' | 'shown_in' | 'person' | 'organization' | 'color' | 'logo' | 'org_id'>;

export function pageOf(link: ShownLink) {
  const fill = (text: string) => fillIn(text, personOf(link));
  const { type, shown_in, organization, color, logo } = link;
  const { question_text, follow_up } = textsIn(link, shown_in);
  const sender = { name: organization, color, logo: logoPath(link.org_id, logo) };
  const question = fill(question_text);
  const followUp = mapTexts(follow_up, fill);
  return {
    survey: { type, question, followUp, language: shown_in, sender },
    language: languageOf(shown_in),
  };
}

const personOf = (link: Pick<ReadLink, 'person'>) => link.person ?? anyPerson;

function mapTexts(followUp: FollowUp | null, change: (text: string) => string): FollowUp | null {
  if (followUp === null || typeof followUp === 'string') return followUp && change(followUp);
  return Object.fromEntries(
    Object.entries(followUp).map(([category, text]) => [category, change(text)]),
  );
}

export function thanksFor(link: ShownLink, category: Category): ThanksWithLink | null {
  const { thanks } = textsIn(link, link.shown_in);
  const words = typeof thanks === 'string' ? { text: thanks } : thanks?.[category];
  return words ? { ...words, text: fillIn(words.text, personOf(link)) } : null;
}

const embedScript = () =>
  new Hono().get('/embed.js', (c) => {
    const script = new Uint8Array(readWebAsset('embed.js'));
    const etag = `"${createHash('sha256').update(script).digest('base64url').slice(0, 16)}"`;
    const headers = {
      'Cache-Control': 'public, max-age=3600',
      ETag: etag,
      'Cross-Origin-Resource-Policy': 'cross-origin',
      'X-Content-Type-Options': 'nosniff',
    };
    if (c.req.header('If-None-Match') === etag) return c.body(null, 304, headers);
    return c.body(script, 200, { ...headers, 'Content-Type': 'text/javascript; charset=utf-8' });
  });

const frameScript = [
  "const page=document.querySelector('main')",
  "const state=document.querySelector('.sign')?'answered':document.querySelector('form')?'asks':'closed'",
  "const say=()=>parent.postMessage({askback:state,height:Math.ceil(page.getBoundingClientRect().bottom+scrollY)},'*')",
  'new ResizeObserver(say).observe(page)',
].join(';');

const frameScriptSource = hashSource(frameScript);

/**
 * Only websites that the survey names may frame its pages. A small script reports the height and state of the page to
 * the website. Nothing else leaves the frame.
 */
const inFrame = createMiddleware(async (c, next) => {
  await next();
  const origins = c.get('frameOrigins') as string[] | undefined;
  const policy = c.res.headers.get('Content-Security-Policy');
  if (!policy || !c.res.headers.get('Content-Type')?.startsWith('text/html')) return;
  const html = await c.res.text();
  const headers = new Headers(c.res.headers);
  const ancestors = origins?.join(' ') || "'none'";
  const framed = policy.replace("frame-ancestors 'none'", `frame-ancestors ${ancestors}`);
  headers.set(
    'Content-Security-Policy',
    policy.includes('script-src ')
      ? framed.replace('script-src ', `script-src ${frameScriptSource} `)
      : `${framed}; script-src ${frameScriptSource}`,
  );
  headers.set('Cross-Origin-Resource-Policy', 'cross-origin');
  headers.delete('Cross-Origin-Opener-Policy');
  const page = html.replace('</body>', `<script>${frameScript}</script></body>`);
  const { status } = c.res;
  c.res = undefined;
  c.res = new Response(page, { status, headers });
});
