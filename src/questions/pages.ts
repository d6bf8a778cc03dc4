import { type Context, Hono } from 'hono';
import * as v from 'valibot';
import { notFound, Refusal, statusOf } from '../errors.ts';
import { enqueue } from '../jobs.ts';
import { limitAddress } from '../keys/authenticate.ts';
import { type Db, inTransaction } from '../lib/db/db.ts';
import { inGroup, requestWaitMs } from '../lib/db/fair-pool.ts';
import { maxFields, readBody, tooManyFields } from '../lib/http/body.ts';
import { clientAddress } from '../lib/http/client-address.ts';
import { refusalIn } from '../lib/http/http.ts';
import { isUuid, parse } from '../lib/validation/parse.ts';
import { type AnsweredResponse, findPersonalLink } from '../responses/answer.queries.ts';
import { maxSharedPerMinute as maxScoresPerMinute, refuseUnlessOpen } from '../responses/answer.ts';
import {
  findLink,
  followUpOf,
  type LinkAddress,
  linkPaths,
  pageOf,
  type ReadLink,
  readObject,
  thanksFor,
} from '../responses/pages.ts';
import { areFinal, readScore } from '../responses/rules.ts';
import {
  answeredPage,
  notSavedPage,
  notTakingAnswersPage,
  thanksPage,
} from '../responses/view/messages.tsx';
import { categoryOf, isScore } from '../survey-types.ts';
import { sendsJson, wantsJson } from '../web/headers.ts';
import { readersLanguage, showPage } from '../web/show.ts';
import {
  type AnswerChanges,
  checkAnswers,
  missingAnswers,
  type PostedAnswer,
  type StoredAnswers,
} from './check-answers.ts';
import { askedOf, isAskedOf, maxQuestions } from './definition.ts';
import { type SavedAnswers, saveAnswers } from './queries.ts';

/** Ten texts of 5,000 characters, each of nine bytes in a form. */
const largestBody = 512 * 1024;
const maxAttempts = 3;
/** The script saves each question in a separate request, so each respondent sends several. */
const maxSharedPerMinute = maxScoresPerMinute * maxQuestions;

/** Pages that accept answers to follow-up questions. A form sends them, but JSON only saves them. */
export function questionPages({ db }: { db: Db }) {
  const pages = new Hono();
  for (const path of linkPaths) {
    const name = path === 's' ? 'token' : 'share_id';
    pages.post(`/${path}/:${name}/answers`, (c) =>
      takeAnswers(c, db, { path, token: c.req.param(name) ?? '' }),
    );
  }
  return pages;
}

type Address = Pick<LinkAddress, 'path' | 'token'>;
type Posted = {
  answers: PostedAnswer[];
  isSent: boolean;
  responseId: string | null;
  /** Only for test links, which record no score. */
  score: unknown;
  fields: Record<string, string[]>;
};

async function takeAnswers(c: Context, db: Db, address: Address) {
  const posted = readPosted(c, await readBody(c, largestBody));
  let link: ReadLink | undefined;
  try {
    let opened = await openLink(c, db, address, posted);
    link = opened;
    const response = answerableResponse(opened);
    if (opened.contact_id === null && !opened.isTest) {
      const reader = `${opened.survey_id}:answers:${clientAddress(c)}`;
      await limitAddress(db, { scope: 'share', address: reader, quota: maxSharedPerMinute });
    }
    const { saved, shown, missing } = await inGroup(
      opened.org_id,
      async () => {
        for (let attempt = 1; attempt <= maxAttempts; attempt++) {
          const outcome = await checkAndSave(c, db, { posted, link: opened });
          if (outcome) return outcome;
          opened = await openLink(c, db, address, posted);
          link = opened;
        }
        throw new Refusal('conflict', 'this survey is being changed: send the answers again');
      },
      { kind: 'answers', waitMs: requestWaitMs },
    );
    if (missing.length > 0) throw new RequiredMissing(missing);
    if (wantsJson(c)) return c.json({ data: { answers: shown } });
    const answer = { ...response, at: new Date(response.at) };
    const questions = followUpOf(link, address, { ...response, answers: saved });
    const thanks = thanksFor(link, categoryOf(link.type, response.score));
    return showPage(c, thanksPage({ ...pageOf(link), thanks, answer, questions, isFinal: true }));
  } catch (error) {
    return showRefusal(c, error, { link, address, posted });
  }
}

const JsonBody = v.object({
  answers: v.pipe(
    v.array(
      v.object({
        question_id: v.string('must be text'),
        value: v.optional(v.unknown()),
        other: v.optional(v.unknown()),
      }),
      'must be a list',
    ),
    v.maxLength(100, 'must be at most 100'),
  ),
  response_id: v.nullish(v.pipe(v.string(), v.uuid('must be a UUID'))),
  score: v.optional(v.unknown()),
});

function readPosted(c: Context, body: string): Posted {
  if (sendsJson(c)) {
    const { answers, response_id = null, score } = parse(JsonBody, readObject(body));
    const posted = answers.map(({ question_id: questionId, value, other }) => ({
      questionId,
      value,
      other,
    }));
    return { answers: posted, isSent: false, responseId: response_id, score, fields: {} };
  }
  const form = new URLSearchParams(body);
  if (form.size > maxFields) throw tooManyFields();
  const names = [...new Set(form.keys())];
  const ids = new Set(
    names.filter((name) => name.startsWith('q_')).map((name) => name.replace(/\.other$/, '')),
  );
  const answers = [...ids].map((questionId) => ({
    questionId,
    value: form.getAll(questionId).filter((value) => value !== ''),
    other: form.get(`${questionId}.other`),
  }));
  const response = form.get('response_id');
  return {
    answers,
    isSent: true,
    responseId: response && isUuid(response) ? response : null,
    score: form.get('score'),
    fields: Object.fromEntries(names.map((name) => [name, form.getAll(name)])),
  };
}

async function openLink(c: Context, db: Db, address: Address, posted: Posted): Promise<ReadLink> {
  const findPersonal = () => findPersonalLink(db, address.token);
  const link = await findLink(c, db, address, findPersonal, posted.responseId);
  if (!link) throw notFound('survey');
  return link.isTest ? { ...link, answered: testedResponse(link, posted) } : link;
}

function testedResponse({ type, now }: ReadLink, posted: Posted) {
  const score = readScore(posted.score);
  if (score === null || !isScore(type, score)) return null;
  return { id: '', score, comment: null, at: now.toISOString(), answers: {} };
}

/** The response if it still accepts answers. Otherwise refuses. */
function answerableResponse(link: ReadLink): AnsweredResponse {
  if (!link.isTest) refuseUnlessOpen(link);
  if (!link.answered) {
    throw new Refusal('conflict', 'follow-up questions are answered after the score', {
      code: 'not_answered',
    });
  }
  if (areFinal(link, link.answered)) {
    throw new Refusal('conflict', 'answers can be changed for 24 hours after the score', {
      code: 'answers_final',
    });
  }
  return link.answered;
}

type Outcome = Pick<SavedAnswers, 'saved' | 'shown'> & { missing: string[] };

/** Returns undefined if the questions of the survey have changed since the link was read. */
async function checkAndSave(
  c: Context,
  db: Db,
  { posted, link }: { posted: Posted; link: ReadLink },
): Promise<Outcome | undefined> {
  const response = answerableResponse(link);
  const category = categoryOf(link.type, response.score);
  const questions = askedOf(link.questions).filter((each) => isAskedOf(each, category));
  const changes = checkAnswers(questions, posted.answers);
  const missing = posted.isSent
    ? missingAnswers(questions, withChanges(response.answers, changes))
    : [];
  if (link.isTest) return { saved: changes.added, shown: [], missing };
  const isSent = posted.isSent && missing.length === 0;
  const publishes = isSent && link.subscribed_events.includes('response.completed');
  return await inTransaction(db, async (tx) => {
    const saved = await saveAnswers(tx, link, { ...changes, responseId: response.id, isSent });
    if (!saved) return undefined;
    // A job publishes response.completed: reading the texts takes too long for a request.
    if (publishes && !saved.held && !saved.completed) {
      const payload = { org_id: link.org_id, response_id: response.id };
      const traceparent = c.get('traceparent') ?? null;
      await enqueue(tx, [{ task: 'questions.publish_completed', payload, traceparent }]);
    }
    return { ...saved, missing };
  });
}

function withChanges(before: StoredAnswers, { added, removed }: AnswerChanges): StoredAnswers {
  const rest = Object.entries(before).filter(([id]) => !removed.includes(id));
  return { ...Object.fromEntries(rest), ...added };
}

class RequiredMissing extends Refusal {
  readonly ids: readonly string[];
  constructor(ids: readonly string[]) {
    super('invalid', `${ids[0]}: this question must be answered`, { code: 'answer_required' });
    this.ids = ids;
  }
}

type Refused = { link: ReadLink | undefined; address: Address; posted: Posted };

/** People get the form back with their input, or the page that the link now shows. Programs get the error. */
function showRefusal(c: Context, error: unknown, { link, address, posted }: Refused): Response {
  const refusal = refusalIn(error);
  if (!refusal || wantsJson(c)) throw error;
  const { kind, code, retryInSeconds } = refusal;
  if (retryInSeconds !== undefined) c.header('Retry-After', String(retryInSeconds));
  const status = statusOf[kind];
  if (!link) {
    if (kind !== 'unavailable') throw error;
    const again = { action: c.req.path, fields: posted.fields };
    return showPage(c, notSavedPage(readersLanguage(c), again), status);
  }
  const page = pageOf(link);
  if (code === 'survey_draft') return showPage(c, notTakingAnswersPage('draft', page), status);
  if (code === 'survey_closed') return showPage(c, notTakingAnswersPage('closed', page), status);
  const { answered: response } = link;
  if (!response) throw error;
  const isFinal = code === 'answers_final';
  const answers = isFinal ? response.answers : enteredAnswers(response.answers, posted);
  const asked = followUpOf(link, address, { ...response, answers });
  const missing = error instanceof RequiredMissing ? error.ids : [];
  const questions = asked && { ...asked, complaint: { isNotSaved: missing.length === 0, missing } };
  const answer = { ...response, at: new Date(response.at) };
  return showPage(c, answeredPage({ ...page, answer, questions, isFinal }), status);
}

/** Unvalidated input. The form shows only the values that fit its fields. */
function enteredAnswers(before: StoredAnswers, { answers }: Posted): StoredAnswers {
  const entered = answers.map(({ questionId, value, other }) => {
    const values = [value].flat().map(String);
    const [first = ''] = values;
    return [
      questionId,
      {
        value: /^\d{1,2}$/.test(first) ? Number(first) : values,
        text: first,
        ...(typeof other === 'string' && { other }),
      },
    ];
  });
  return { ...before, ...Object.fromEntries(entered) };
}
