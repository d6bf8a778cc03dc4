import { type Context, Hono } from 'hono';
import { notFound } from '../errors.ts';
import { limitAddress } from '../keys/limit.ts';
import type { Db } from '../lib/db/db.ts';
import { clientAddress } from '../lib/http/client-address.ts';
import { linkTrace } from '../lib/http/request-spans.ts';
import { isTracing } from '../lib/tracing/spans.ts';
import { showPage } from '../web/show.ts';
import { findShared, openPersonal, type Personal, type Shared } from './answer.queries.ts';
import { type AnswerTools, answerPersonal, answerShared, readScore } from './answer.ts';
import { answering, type Form, keepWritten, surveyPage } from './answer-page.ts';
import { readAnsweredCookie, setAnsweredCookie } from './answered-cookie.ts';
import { readSubmission } from './submission.ts';

const sharedAnswersPerMinute = 300;
/** Where the link leads that no person sees, below the link of the survey. */
const trapPath = 'x';

type PageTools = AnswerTools & { publicUrl: string };

/** Which of a survey's two addresses was asked for: its own, or that of the hidden link. */
type Door = 'view' | 'trap';

/** The pages where answers are given. Opening one never counts: the answer is the POST. */
export const answerPages = (tools: PageTools) =>
  new Hono()
    .on(['GET', 'HEAD'], '/s/:token', (c) => showPersonal(c, tools, 'view'))
    .on(['GET', 'HEAD'], `/s/:token/${trapPath}`, (c) => showPersonal(c, tools, 'trap'))
    .post('/s/:token', (c) => takePersonal(c, tools, 'view'))
    .post(`/s/:token/${trapPath}`, (c) => takePersonal(c, tools, 'trap'))
    .on(['GET', 'HEAD'], '/f/:share_id', (c) => showShared(c, tools, 'view'))
    .on(['GET', 'HEAD'], `/f/:share_id/${trapPath}`, (c) => showShared(c, tools, 'trap'))
    .post('/f/:share_id', (c) => takeShared(c, tools, 'view'))
    .post(`/f/:share_id/${trapPath}`, (c) => takeShared(c, tools, 'trap'));

async function showPersonal(c: Context, { db }: PageTools, door: Door) {
  const score = readScore(c.req.query('score'));
  const link = await open(c, db, { kind: door, score });
  if (!link) throw notFound('survey');
  return showPage(c, surveyPage(c, link, personalForm(link, door)));
}

async function showShared(c: Context, { db }: PageTools, door: Door) {
  const shareId = c.req.param('share_id') ?? '';
  const link = await findShared(db, shareId, readAnsweredCookie(c, shareId));
  if (!link) throw notFound('survey');
  return showPage(c, surveyPage(c, link, sharedForm(link, door)));
}

async function takePersonal(c: Context, tools: PageTools, door: Door) {
  const read = await readSubmission(c);
  const filled = { ...read, trapped: read.trapped || door === 'trap' };
  const score = readScore(filled.score);
  return await keepWritten(c, filled, async () => {
    const link = await open(c, tools.db, { kind: 'post', score });
    if (!link) throw notFound('survey');
    const form = personalForm(link, door);
    const answer = () => answerPersonal(tools, link, filled);
    return await answering(c, {
      link,
      form,
      filled,
      answer,
      find: () => open(c, tools.db, { kind: 'view', score }),
    });
  });
}

type Opening = { kind: Door | 'post'; score: number | null };

/** A page's request has a trace of its own, linked to that of the mail which led to it. */
async function open(c: Context, db: Db, opening: Opening) {
  const how = { ...opening, method: c.req.method, traced: isTracing() };
  const link = await openPersonal(db, c.req.param('token') ?? '', how);
  linkTrace(c, link?.mail_traceparent ?? null);
  return link;
}

async function takeShared(c: Context, tools: PageTools, door: Door) {
  const shareId = c.req.param('share_id') ?? '';
  const read = await readSubmission(c);
  const filled = { ...read, trapped: read.trapped || door === 'trap' };
  const find = () => findShared(tools.db, shareId, readAnsweredCookie(c, shareId));
  return await keepWritten(c, filled, async () => {
    const link = await find();
    if (!link) throw notFound('survey');
    const answer = async () => {
      const address = clientAddress(c);
      await limitAddress(tools.db, { what: 'share', address, quota: sharedAnswersPerMinute });
      const given = await answerShared(tools, link, filled);
      setAnsweredCookie(c, { shareId, answerId: given.id, publicUrl: tools.publicUrl });
      return given;
    };
    return await answering(c, { link, form: sharedForm(link, door), filled, answer, find });
  });
}

const personalForm = ({ token }: Personal, door: Door): Form => ({
  ...addresses(`/s/${token}`, door),
  unsubscribeUrl: `/u/${token}`,
});

const sharedForm = ({ share_id }: Shared, door: Door): Form => ({
  ...addresses(`/f/${share_id}`, door),
  unsubscribeUrl: null,
});

function addresses(own: string, door: Door) {
  const trapUrl = `${own}/${trapPath}`;
  return { action: door === 'trap' ? trapUrl : own, trapUrl };
}
