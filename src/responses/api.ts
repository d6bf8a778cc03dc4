import { type Context, Hono } from 'hono';
import { recordExport } from '../audit/export.ts';
import { type ApiEnv, requireWrite } from '../keys/authenticate.ts';
import { createReader, type ReplicaTools } from '../keys/read.ts';
import { csvDescription, exportResponse, exportTypes } from '../lib/export/export.ts';
import { parseBody } from '../lib/http/body.ts';
import { answerRead } from '../lib/http/read-answer.ts';
import type { ApiSection } from '../lib/openapi/openapi.ts';
import { answerJson, List, One, readText } from '../lib/paging/page.ts';
import { idParam } from '../lib/validation/parse.ts';
import type { OrgId } from '../limits.ts';
import { replyToResponse } from '../replies/reply.ts';
import { Reply, ReplyInput } from '../replies/schemas.ts';
import type { SendProgress } from '../sends/send.ts';
import type { Excerpt } from './events.ts';
import { exportResponses } from './export.ts';
import { countCategories } from './filter.queries.ts';
import { filterOf, parseFiltered, rangeOf, runSearch, scopeOf } from './filter.ts';
import { addNote, deleteResponse, followUp, setTags } from './follow-up.ts';
import { findResponse, listResponses } from './queries.ts';
import { releaseResponse } from './release.ts';
import { type HeldTally, rollUp } from './rules.ts';
import {
  AnswerBody,
  FollowUpInput,
  facetParameters,
  GivenAnswer,
  NoteInput,
  Nps,
  NpsAnswer,
  NpsQuery,
  NpsTrend,
  NpsTrendRow,
  Response,
  ResponseExportQuery,
  ResponseNote,
  ResponseQuery,
  TagsInput,
  TrendQuery,
} from './schemas.ts';
import { countTrend, trendOf, trendRows } from './trend.ts';

export function npsReads(tools: ReplicaTools) {
  const { read } = createReader(tools);
  return new Hono<ApiEnv>()
    .get('/', async (c) => {
      const { ignored, ...query } = parseFiltered(NpsQuery, c.req.queries());
      const tally = await read(c, (orgId) =>
        countCategories(tools.db, orgId, { ...scopeOf(query), range: rangeOf(query) }),
      );
      const meta = ignored.length > 0 ? { meta: { ignored } } : {};
      const data = rollUp(JSON.parse(tally ?? '') as HeldTally);
      return await answerRead(c, JSON.stringify({ data, ...meta }));
    })

    .get('/trend', async (c) => {
      const { tz, interval, ignored, ...query } = parseFiltered(TrendQuery, c.req.queries());
      const { date_from: from = null, date_to: to = null } = query;
      const rows = trendRows({ interval, timeZone: tz, from, to }, new Date());
      const tallies = await read(c, (orgId) =>
        countTrend(tools.db, orgId, { scope: scopeOf(query), rows }),
      );
      const data = trendOf(JSON.parse(tallies ?? '') as HeldTally[], rows);
      const total = rows.starts.length;
      const meta = { interval, tz, total, ...(ignored.length > 0 && { ignored }) };
      return await answerRead(c, JSON.stringify({ data, meta }));
    });
}

const changedResponse = {
  status: 200,
  about: 'the changed response',
  schema: One(Response),
} as const;

export const responseSection: ApiSection = {
  name: 'Responses',
  about: 'Read, filter, export and follow up on responses, and get the score.',
  schemas: { Response, ResponseNote, Reply, Nps, NpsTrendRow },
  bodies: {
    ResponseChange: FollowUpInput,
    ResponseTags: TagsInput,
    NewNote: NoteInput,
    NewReply: ReplyInput,
  },
  operations: {
    'get /api/v1/responses': {
      id: 'listResponses',
      summary: 'List responses, newest first',
      about: 'Combines all filters. A survey of another organization matches nothing.',
      query: ResponseQuery,
      openQuery: facetParameters,
      answer: { about: 'a page of responses', schema: List(Response) },
      refusals: { 422: ['search_too_slow'] },
    },
    'get /api/v1/responses/{id}': {
      id: 'getResponse',
      summary: 'Get a response',
      about: 'Includes responses on hold, with `held: true`.',
      answer: { about: 'the response', schema: One(Response) },
    },
    'get /api/v1/responses/export': {
      id: 'exportResponses',
      summary: 'Export responses as a file',
      about: `All responses that match the filters of the list, newest first. ${csvDescription}`,
      query: ResponseExportQuery,
      openQuery: facetParameters,
      answer: { about: 'the file, streamed', files: exportTypes },
    },
    'patch /api/v1/responses/{id}': {
      id: 'changeResponse',
      summary: 'Change the state and owner of a response',
      about: 'New detractors are `open`. Omitted fields stay unchanged.',
      body: FollowUpInput,
      answer: changedResponse,
      refusals: { 400: ['unknown_member'] },
    },
    'put /api/v1/responses/{id}/tags': {
      id: 'setResponseTags',
      summary: 'Set the tags of a response',
      about: 'Replaces all tags of the response.',
      body: TagsInput,
      answer: changedResponse,
      refusals: { 400: ['unknown_tag'] },
    },
    'post /api/v1/responses/{id}/notes': {
      id: 'addResponseNote',
      summary: 'Add a note to a response',
      about: 'Only members of the organization see notes.',
      body: NoteInput,
      answer: { status: 201, about: 'the note', schema: One(ResponseNote) },
      refusals: { 400: ['too_many_notes'] },
    },
    'post /api/v1/responses/{id}/replies': {
      id: 'replyToResponse',
      summary: 'Reply to a response by email',
      about:
        'Sends an email to the person, from the sender of the survey, in the thread of the survey email. Waits up to 5 ' +
        'seconds for the outcome; later, the response lists the reply. Send an `Idempotency-Key`: each request without one is a ' +
        'new email. Unsubscribed people can be replied to.',
      body: ReplyInput,
      answer: { status: 201, about: 'the reply', schema: One(Reply) },
      refusals: { 400: ['too_many_replies'], 409: ['no_address', 'erased'] },
    },
    'post /api/v1/responses/{id}/release': {
      id: 'releaseResponse',
      summary: 'Release a response on hold',
      about: 'The response then counts, and its events are delivered.',
      answer: changedResponse,
      refusals: { 409: ['not_held'] },
    },
    'delete /api/v1/responses/{id}': {
      id: 'deleteResponse',
      summary: 'Delete a response',
      about:
        'The response no longer counts. Its contact keeps the status `responded`, and delivered events stay delivered.',
      answer: { status: 204, about: 'the response was deleted' },
    },
    'get /api/v1/nps': {
      id: 'getNps',
      summary: 'Get the Net Promoter Score',
      about:
        'The share of promoters minus the share of detractors, from -100 to 100, of all responses that match the ' +
        'filters. Responses on other scales count by their category.',
      query: NpsQuery,
      openQuery: facetParameters,
      answer: {
        about: 'the score and its counts',
        schema: NpsAnswer,
      },
    },
    'get /api/v1/nps/trend': {
      id: 'getNpsTrend',
      summary: 'Get the Net Promoter Score by day, week or month',
      about:
        'Returns the fields of the score for each day, week or month of the range, including those without responses. ' +
        'The first and last row only count responses in the range. At most 1,100 rows.',
      query: TrendQuery,
      openQuery: facetParameters,
      answer: { about: 'one row per interval, oldest first', schema: NpsTrend },
      refusals: { 400: ['too_many_rows'] },
    },
  },
};

const answering = {
  isPublic: true,
  body: AnswerBody,
  answer: { status: 201, about: 'the recorded response', schema: One(GivenAnswer) },
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
    'A survey link opens a page for people. To answer from a program or your own page, send a POST with a JSON body or ' +
    'with `Accept: application/json`. The link is the permission; no key is needed.',
  schemas: { GivenAnswer },
  bodies: { Answer: AnswerBody },
  operations: {
    'post /s/{token}': {
      ...answering,
      id: 'answerPersonal',
      parameters: { token: linkPart('the `token` of a contact, from its email') },
      summary: 'Answer a survey by a personal link',
      about: 'One response per contact. Responses that look automated are put on hold.',
    },
    'post /f/{share_id}': {
      ...answering,
      id: 'answerShared',
      parameters: { share_id: linkPart('the last part of the shareable link') },
      summary: 'Answer a survey by its shareable link',
      about:
        'Each POST is a separate anonymous response. Limited to 300 per minute for each client address.',
    },
  },
};

function linkPart(about: string) {
  return { about, schema: { type: 'string', pattern: '^[A-Za-z0-9_-]+$' } };
}

type ResponseTools = ReplicaTools & { excerpt: Excerpt; progress: Pick<SendProgress, 'watch'> };

export function responseRoutes(tools: ResponseTools) {
  const { db } = tools;
  const { answer } = createReader(tools);
  return new Hono<ApiEnv>()
    .get('/', async (c) => {
      const listOf = (orgId: OrgId) => {
        const page = parseFiltered(ResponseQuery, c.req.queries());
        return listResponses(db, orgId, { filter: filterOf(page), page });
      };
      if (!c.req.query('search')) return await answer(c, 'list', listOf);
      // Searches can be slow, so each has its own connection and ends when its caller leaves.
      const list = listOf(c.var.key.org_id);
      const json = await runSearch(db, c.req.raw.signal, (sql) => readText(sql, list));
      return answerRead(c, json);
    })

    .get('/export', async (c) => {
      const { format, ...query } = parseFiltered(ResponseExportQuery, c.req.queries());
      const { org_id: orgId } = c.var.key;
      await recordExport(db, { orgId, actor: c.var.actor }, 'responses.exported');
      const parts = exportResponses(tools, orgId, { filter: filterOf(query), format });
      return exportResponse(format, { name: 'responses', parts });
    })

    .all('/export', (c) => c.notFound()) // keeps `/:id` from matching `export`

    .get('/:id', (c) =>
      answer(c, 'response', (orgId) => findResponse(db, orgId, idParam(c, 'response'))),
    )

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

    .post('/:id/replies', async (c) => {
      const by = requireWrite(c.var.key);
      const responseId = idParam(c, 'response');
      const { text } = await parseBody(c, ReplyInput);
      return c.json({ data: await replyToResponse(tools, by, { responseId, text }) }, 201);
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
}

const show = (c: Context<ApiEnv>, { db }: ResponseTools, id: string) =>
  answerJson(c, db, findResponse(db, c.var.key.org_id, id));
