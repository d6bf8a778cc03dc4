import { type Context, Hono, type MiddlewareHandler } from 'hono';
import { recordExport } from '../audit/export.ts';
import { type ApiEnv, requireWrite } from '../keys/authenticate.ts';
import { createReader, type ReplicaTools } from '../keys/read.ts';
import type { Db } from '../lib/db/db.ts';
import { csvDescription, exportResponse, exportTypes } from '../lib/export/export.ts';
import { parseBody } from '../lib/http/body.ts';
import { answerRead } from '../lib/http/read-answer.ts';
import type { ApiSection } from '../lib/openapi/openapi.ts';
import { answerJson, List, One, readText } from '../lib/paging/page.ts';
import { idParam } from '../lib/validation/parse.ts';
import type { Excerpt } from './events.ts';
import { exportResponses } from './export.ts';
import { countCategories } from './filter.queries.ts';
import {
  filterOf,
  ignoredParameters,
  parseFiltered,
  rangeOf,
  runSearch,
  scopeOf,
} from './filter.ts';
import { addNote, deleteResponse, followUp, setTags } from './follow-up.ts';
import { findResponse, listResponses } from './queries.ts';
import { releaseResponse } from './release.ts';
import { type HeldTally, rollUp } from './rules.ts';
import {
  AnswerBody,
  FollowUpInput,
  GivenAnswer,
  NoteInput,
  Nps,
  NpsAnswer,
  NpsQuery,
  NpsTrend,
  NpsTrendRow,
  propertyFilter,
  Response,
  ResponseExportQuery,
  ResponseNote,
  ResponseQuery,
  TagsInput,
  TrendQuery,
} from './schemas.ts';
import { countTrend, type TrendRows, trendOf, trendRows } from './trend.ts';

export function responseReads(tools: ReplicaTools) {
  const { db } = tools;
  const { answer } = createReader(tools);
  return new Hono<ApiEnv>()
    .get('/', async (c, next) => {
      if (c.req.query('search')) return await next();
      return await answer(c, 'list', (orgId) => {
        const page = parseFiltered(ResponseQuery, c.req.queries());
        return listResponses(db, orgId, { filter: filterOf(page), page });
      });
    })

    .get('/export', passOn)

    .get('/:id', async (c, next) => {
      const id = c.req.param('id');
      if (id === 'export') return await next();
      return await answer(c, 'response', (orgId) =>
        findResponse(db, orgId, idParam(c, 'response')),
      );
    });
}

/** Passes on to `responseExport`. Metrics name a request by the first route that matches. */
const passOn: MiddlewareHandler = async (_c, next) => await next();

/** Searches can be slow, so each has its own connection and ends when its caller leaves. */
export const responseSearch = ({ db }: { db: Db }) =>
  new Hono<ApiEnv>().get('/', async (c) => {
    const page = parseFiltered(ResponseQuery, c.req.queries());
    const list = listResponses(db, c.var.key.org_id, { filter: filterOf(page), page });
    return await runSearch(db, c.req.raw.signal, (sql) => readText(sql, list)).then((json) =>
      answerRead(c, json),
    );
  });

export const responseExport = (tools: ReplicaTools) =>
  new Hono<ApiEnv>().get('/export', async (c) => {
    const { format, ...query } = parseFiltered(ResponseExportQuery, c.req.queries());
    const wish = { filter: filterOf(query), format };
    const { org_id: orgId } = c.var.key;
    await recordExport(tools.db, { orgId, actor: c.var.actor }, 'responses.exported');
    return exportResponse(format, {
      name: 'responses',
      parts: exportResponses(tools, orgId, wish),
    });
  });

export function npsReads(tools: ReplicaTools) {
  const { read } = createReader(tools);
  return new Hono<ApiEnv>()
    .get('/', async (c) => {
      const ignored = ignoredParameters(NpsQuery, c.req.queries());
      const query = parseFiltered(NpsQuery, c.req.queries());
      const tally = await read(c, (orgId) =>
        countCategories(tools.db, orgId, { ...scopeOf(query), range: rangeOf(query) }),
      );
      const meta = ignored.length > 0 ? { meta: { ignored } } : {};
      const data = rollUp(JSON.parse(tally ?? '') as HeldTally);
      return await answerRead(c, JSON.stringify({ data, ...meta }));
    })

    .get('/trend', async (c) => {
      let asked: { rows: TrendRows; meta: object } | undefined;
      const tallies = await read(c, (orgId) => {
        const { tz, interval, ignored, ...query } = parseFiltered(TrendQuery, c.req.queries());
        const { date_from: from = null, date_to: to = null } = query;
        const rows = trendRows({ interval, timeZone: tz, from, to }, new Date());
        const total = rows.starts.length;
        asked = { rows, meta: { interval, tz, total, ...(ignored.length > 0 && { ignored }) } };
        return countTrend(tools.db, orgId, { scope: scopeOf(query), rows });
      });
      const counted = JSON.parse(tallies ?? '') as HeldTally[];
      const { rows, meta } = asked!;
      return await answerRead(c, JSON.stringify({ data: trendOf(counted, rows), meta }));
    });
}

const path = '/api/v1/responses';

export const responseSection: ApiSection = {
  name: 'Responses',
  about: 'What people answered, and the score it comes to.',
  schemas: { Response, ResponseNote, Nps, NpsTrendRow },
  bodies: { ResponseChange: FollowUpInput, ResponseTags: TagsInput, NewNote: NoteInput },
  operations: [
    {
      id: 'listResponses',
      method: 'get',
      path,
      summary: 'List responses, newest first',
      about: 'All filters apply together. A survey of another organization leaves nothing.',
      permission: 'read',
      query: ResponseQuery,
      openQuery: propertyFilter,
      answer: { status: 200, about: 'a page of them', schema: List(Response) },
      refusals: { 422: ['search_too_slow'] },
    },
    {
      id: 'getResponse',
      method: 'get',
      path: `${path}/{id}`,
      summary: 'Get a response',
      about: 'Held responses are found too, with `held: true`.',
      permission: 'read',
      answer: { status: 200, about: 'the response', schema: One(Response) },
    },
    {
      id: 'exportResponses',
      method: 'get',
      path: `${path}/export`,
      summary: 'Export responses as a file',
      about: `Everything that the filters of the list leave, newest first. ${csvDescription}`,
      permission: 'read',
      query: ResponseExportQuery,
      openQuery: propertyFilter,
      answer: { status: 200, about: 'the file, as long as it is', files: exportTypes },
    },
    {
      id: 'changeResponse',
      method: 'patch',
      path: `${path}/{id}`,
      summary: 'Follow a response up: its state and its owner',
      about: 'A detractor is open from the start. What is not given stays as it is.',
      permission: 'write',
      body: FollowUpInput,
      answer: { status: 200, about: 'the response as it is now', schema: One(Response) },
      refusals: { 400: ['unknown_member'] },
    },
    {
      id: 'setResponseTags',
      method: 'put',
      path: `${path}/{id}/tags`,
      summary: 'Give a response its tags',
      about: 'All of them: a tag that is not in the list is taken away.',
      permission: 'write',
      body: TagsInput,
      answer: { status: 200, about: 'the response as it is now', schema: One(Response) },
      refusals: { 400: ['unknown_tag'] },
    },
    {
      id: 'addResponseNote',
      method: 'post',
      path: `${path}/{id}/notes`,
      summary: 'Write a note about a response',
      about: 'For the members of the organization: no page of a survey shows it.',
      permission: 'write',
      body: NoteInput,
      answer: { status: 201, about: 'the note', schema: One(ResponseNote) },
      refusals: { 400: ['too_many_notes'] },
    },
    {
      id: 'releaseResponse',
      method: 'post',
      path: `${path}/{id}/release`,
      summary: 'Count a response that is held',
      about: 'From now on it is like any other: it counts, and its events are delivered.',
      permission: 'write',
      answer: { status: 200, about: 'the response as it is now', schema: One(Response) },
      refusals: { 409: ['not_held'] },
    },
    {
      id: 'deleteResponse',
      method: 'delete',
      path: `${path}/{id}`,
      summary: 'Delete a response for good',
      about:
        'It counts nowhere any more. Its contact stays one that has answered; events that were delivered stay delivered.',
      permission: 'write',
      answer: { status: 204, about: 'it is gone' },
    },
    {
      id: 'getNps',
      method: 'get',
      path: '/api/v1/nps',
      summary: 'Roll responses up to a Net Promoter Score',
      about:
        'The share of promoters minus the share of detractors, from -100 to 100, of all responses that the filters ' +
        'leave. Other scales count too: by the category that a score has on the scale of its survey.',
      permission: 'read',
      query: NpsQuery,
      openQuery: propertyFilter,
      answer: {
        status: 200,
        about: 'the score, and what it is made of',
        schema: NpsAnswer,
      },
    },
    {
      id: 'getNpsTrend',
      method: 'get',
      path: '/api/v1/nps/trend',
      summary: 'The Net Promoter Score by day, week or month',
      about:
        'The fields of the rollup for each day, week or month of the range, also for those without answers. ' +
        'The first and the last row count only what is in the range. At most 1,100 rows.',
      permission: 'read',
      query: TrendQuery,
      openQuery: propertyFilter,
      answer: { status: 200, about: 'a row for each, oldest first', schema: NpsTrend },
      refusals: { 400: ['too_many_rows'] },
    },
  ],
};

const giving = {
  method: 'post',
  permission: 'none',
  body: AnswerBody,
  answer: { status: 201, about: 'the response that was recorded', schema: One(GivenAnswer) },
  notFound: 'survey',
  refusals: {
    400: [
      'score_invalid',
      'comment_invalid',
      'comment_too_long',
      'survey_draft',
      'survey_closed',
      'invalid_json',
    ],
    409: ['already_answered'],
  },
} as const;

export const answeringSection: ApiSection = {
  name: 'Answering',
  about:
    'The links of a survey are pages for people. A POST with a JSON body, or with `Accept: application/json`, answers ' +
    'JSON instead, so that a program or a page of your own can give an answer. No key is needed: the link is the permission.',
  schemas: { GivenAnswer },
  bodies: { Answer: AnswerBody },
  operations: [
    {
      ...giving,
      id: 'answerPersonal',
      path: '/s/{token}',
      parameters: { token: linkPart('the `token` of a contact, as its mail has it') },
      summary: 'Answer a survey by the link of a contact',
      about: 'One response for each contact. An answer that a machine seems to have given is held.',
    },
    {
      ...giving,
      id: 'answerShared',
      path: '/f/{share_id}',
      parameters: { share_id: linkPart('the last part of the shareable link of a survey') },
      summary: 'Answer a survey by its shareable link',
      about:
        'Each POST is a response of its own, without a contact. Limited to 300 a minute and address.',
    },
  ],
};

function linkPart(about: string) {
  return { about, schema: { type: 'string', pattern: '^[A-Za-z0-9_-]+$' } };
}

type ChangeTools = { db: Db; excerpt: Excerpt };

export const responseChanges = (tools: ChangeTools) =>
  new Hono<ApiEnv>()
    .all('/export', (c) => c.notFound()) // never `/:id`: the answer names the methods it has

    .patch('/:id', async (c) => {
      const by = requireWrite(c.var.key);
      const id = idParam(c, 'response');
      await followUp(tools, by, { id, ...(await parseBody(c, FollowUpInput)) });
      return await show(c, tools, id);
    })

    .put('/:id/tags', async (c) => {
      const by = requireWrite(c.var.key);
      const id = idParam(c, 'response');
      const { tags } = await parseBody(c, TagsInput);
      await setTags(tools, by, { id, tagIds: tags });
      return await show(c, tools, id);
    })

    .post('/:id/notes', async (c) => {
      const by = requireWrite(c.var.key);
      const id = idParam(c, 'response');
      const { text } = await parseBody(c, NoteInput);
      return c.json({ data: await addNote(tools, by, { id, text }) }, 201);
    })

    .post('/:id/release', async (c) => {
      const by = requireWrite(c.var.key);
      const id = idParam(c, 'response');
      await releaseResponse(tools, by, id);
      return await show(c, tools, id);
    })

    .delete('/:id', async (c) => {
      const by = requireWrite(c.var.key);
      await deleteResponse(tools, by, idParam(c, 'response'));
      return c.body(null, 204);
    });

const show = (c: Context<ApiEnv>, { db }: ChangeTools, id: string) =>
  answerJson(c, db, findResponse(db, c.var.key.org_id, id));
