import { type Context, Hono } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import { notFound, Refusal } from '../errors.ts';
import { type Db, violates } from '../lib/db/db.ts';
import { inGroup, requestWaitMs } from '../lib/db/fair-pool.ts';
import { readBody } from '../lib/http/body.ts';
import { clientAddress } from '../lib/http/client-address.ts';
import { refusalIn } from '../lib/http/http.ts';
import { linkTrace } from '../lib/http/request-spans.ts';
import { isTracing } from '../lib/tracing/spans.ts';
import { parseJson } from '../lib/validation/json.ts';
import { isUuid } from '../lib/validation/parse.ts';
import { showPage } from '../web/show.ts';
import { sendsJson } from '../web/wants-json.ts';
import { type AnswerTools, answerSurvey, createAnswerRecorder } from './answer.ts';
import { linkPage, showRecorded, showRefusal } from './answer-page.ts';
import { allowFrames, embedScript, inFrame } from './embed.ts';
import { readHandedIn } from './handed-in.ts';
import { findSharedLink, linkExists, visitPersonalLink } from './link.queries.ts';
import { type LinkAddress, linkPaths, readLink, trapPath } from './read-link.ts';
import { type LinkVisit, readScore, type Submission } from './rules.ts';
import { trapField } from './view/form.tsx';

/** The longest comment fits, escaped in any way. */
const largestSubmission = 64 * 1024;
/** Parsing more than this costs more than looking whether the link exists. */
const cheapSubmission = 4 * 1024;
const cookieSeconds = 365 * 24 * 3600;

type PageTools = AnswerTools & { publicUrl: string };
type GivenTools = Omit<PageTools, 'record'>;

/** The pages where answers are given. Opening a page is no answer; posting its form is. */
export function answerPages(given: GivenTools) {
  const tools = { ...given, record: createAnswerRecorder(given.db) };
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
  const link = await findLink(c, db, { address, visit });
  if (!link) throw notFound('survey');
  return showPage(c, linkPage(link, address, chosen));
}

async function takeAnswer(c: Context, tools: PageTools, address: LinkAddress) {
  const body = await readBody(c, largestSubmission);
  if (body.length > cheapSubmission && !(await mayExist(tools.db, address))) {
    throw notFound('survey');
  }
  const submission = readSubmission(c, body, address.trap);
  const score = readScore(submission.score);
  let link: Awaited<ReturnType<typeof findLink>>;
  try {
    link = await findLink(c, tools.db, { address, visit: { kind: 'post', score } });
    if (!link) throw notFound('survey');
    const reader = { address: clientAddress(c), language: link.shown_in };
    const response = await answerInTurn(tools, link, { ...submission, ...reader });
    if (address.path === 'f') setAnsweredCookie(c, tools, { ...address, responseId: response.id });
    return showRecorded(c, link, response);
  } catch (error) {
    const kind = refusalIn(error)?.kind;
    if (kind === 'not_found') throw error;
    // Another answer came first: the link shows something else by now.
    if (link && kind === 'conflict') {
      link = await findLink(c, tools.db, { address, visit: { kind: 'view', score } });
      if (!link) throw notFound('survey');
    }
    return showRefusal(c, error, { link, address, submission });
  }
}

/** The submission in the body of a posted form or JSON object; `trap` when it was posted to the hidden link. */
function readSubmission(c: Context, body: string, trap: boolean): Submission {
  const fields = sendsJson(c) ? readObject(body) : Object.fromEntries(new URLSearchParams(body));
  const filledIn = fields[trapField] !== undefined && fields[trapField] !== '';
  return {
    score: fields['score'],
    comment: fields['comment'],
    honeypotHit: trap || filledIn,
    properties: readHandedIn(fields['properties']),
    traceparent: c.get('traceparent') ?? null,
  };
}

function readObject(body: string): Record<string, unknown> {
  const value = parseJson(body);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return value as Record<string, unknown>;
  }
  throw new Refusal('invalid', 'the body must be a JSON object', { code: 'invalid_json' });
}

/** The answers of one organization share the database with those of others, and with its own requests in turn. */
const answerInTurn: typeof answerSurvey = (tools, link, answer) =>
  inGroup(link.org_id, () => answerSurvey(tools, link, answer), {
    kind: 'answers',
    waitMs: requestWaitMs,
  });

/** Without its database nothing is known of the link: the page for that gives people their input back. */
async function mayExist(db: Db, { path, token }: LinkAddress): Promise<boolean> {
  try {
    return await linkExists(db, path, token);
  } catch (error) {
    if (refusalIn(error)?.kind === 'unavailable') return true;
    throw error;
  }
}

type Visited = { address: LinkAddress; visit: Pick<LinkVisit, 'kind' | 'score'> };

/** A page's request has a trace of its own, linked to that of the mail which led to it. */
async function findLink(c: Context, db: Db, { address: { path, token }, visit }: Visited) {
  if (path !== 's') {
    const answered = path === 'f' ? readAnsweredCookie(c, token) : null;
    const shared = await findSharedLink(db, token, answered);
    if (shared && path === 'e') allowFrames(c, shared);
    return shared && readLink(c, shared);
  }
  const { method } = c.req;
  const made = { ...visit, method, traced: isTracing() };
  const link = await visitPersonalLink(db, token, made).catch((error: unknown) => {
    if (violates(error, 'visits_belong_to_contact')) return undefined; // it was deleted meanwhile
    throw error;
  });
  linkTrace(c, link?.mail_traceparent ?? null);
  return link && readLink(c, link);
}

/** The id of what this browser has answered through a shareable link. */
function readAnsweredCookie(c: Context, shareId: string): string | null {
  const responseId = getCookie(c, cookieOf(shareId));
  return responseId && isUuid(responseId) ? responseId : null;
}

type Cookie = { token: string; responseId: string };

/** Holds the response's id and nothing else, and is sent to this survey's address alone. */
function setAnsweredCookie(
  c: Context,
  { publicUrl }: Pick<PageTools, 'publicUrl'>,
  { token, responseId }: Cookie,
) {
  setCookie(c, cookieOf(token), responseId, {
    path: `/f/${token}`,
    maxAge: cookieSeconds,
    httpOnly: true,
    sameSite: 'Lax',
    secure: publicUrl.startsWith('https:'),
  });
}

const cookieOf = (shareId: string) => `answered_${shareId}`;
