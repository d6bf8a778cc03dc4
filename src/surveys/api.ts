import { type Context, Hono } from 'hono';
import type { Writer } from '../audit/acts.ts';
import { notFound } from '../errors.ts';
import { type ApiEnv, requireWrite } from '../keys/authenticate.ts';
import { createReader, type ReplicaTools } from '../keys/read.ts';
import type { Db } from '../lib/db/db.ts';
import { parseBody } from '../lib/http/body.ts';
import { answerRead } from '../lib/http/read-answer.ts';
import { readIfMatch } from '../lib/http/version.ts';
import type { ApiSection } from '../lib/openapi/openapi.ts';
import { List, One, Page, parsePage } from '../lib/paging/page.ts';
import { idParam, parseWriteQuery } from '../lib/validation/parse.ts';
import {
  changeSurvey,
  closeSurvey,
  copySurvey,
  createSurvey,
  deleteSurvey,
  openSurvey,
  reopenByHand,
  surveyToJson,
  versionOfSurvey,
} from './lifecycle.ts';
import { findSurvey, listSurveys, type SurveyRow, selectSurveyJson } from './queries.ts';
import {
  DeleteQuery,
  NewSurveyInput,
  Survey,
  SurveyChangeInput,
  SurveyItem,
  surveyBodies,
} from './schemas.ts';

type SurveyTools = { db: Db; publicUrl: string };

export function surveyReads(tools: ReplicaTools & SurveyTools) {
  const { db, publicUrl } = tools;
  const { read, answer } = createReader(tools);
  return new Hono<ApiEnv>()
    .get('/', (c) =>
      answer(c, 'list', (orgId) => listSurveys(db, orgId, parsePage(c.req.queries()))),
    )

    .get('/:id', async (c) => {
      const json = await read(c, (orgId) => selectSurveyJson(db, orgId, idParam(c, 'survey')));
      if (json === null) throw notFound('survey');
      const row = JSON.parse(json) as SurveyRow;
      const [created_at, updated_at] = [new Date(row.created_at), new Date(row.updated_at)];
      const data = surveyToJson({ ...row, created_at, updated_at }, publicUrl);
      return await answerRead(c, JSON.stringify({ data }), versionOfSurvey(row));
    });
}

export const surveyRoutes = (tools: SurveyTools) =>
  new Hono<ApiEnv>()
    .post('/', async (c) => {
      const by = requireWrite(c.var.key);
      const { id } = await createSurvey(tools, by, await parseBody(c, NewSurveyInput));
      return show(c, tools, { id, status: 201 });
    })

    .patch('/:id', async (c) => {
      const by = requireWrite(c.var.key);
      const id = idParam(c, 'survey');
      const change = await parseBody(c, SurveyChangeInput);
      await changeSurvey(tools, by, { id, change, ifMatch: readIfMatch(c) });
      return show(c, tools, { id });
    })

    .delete('/:id', async (c) => {
      const by = requireWrite(c.var.key);
      const { answers } = parseWriteQuery(DeleteQuery, c.req.queries());
      await deleteSurvey(tools, by, {
        id: idParam(c, 'survey'),
        withAnswers: answers === 'delete',
      });
      return c.body(null, 204);
    })

    .post('/:id/open', (c) => move(c, tools, openSurvey))
    .post('/:id/close', (c) => move(c, tools, closeSurvey))
    .post('/:id/reopen', (c) => move(c, tools, reopenByHand))

    .post('/:id/copy', async (c) => {
      const by = requireWrite(c.var.key);
      const { id } = await copySurvey(tools, by, idParam(c, 'survey'));
      return show(c, tools, { id, status: 201 });
    });

type Move = (tools: SurveyTools, by: Writer, surveyId: string) => Promise<unknown>;

async function move(c: Context<ApiEnv>, tools: SurveyTools, act: Move) {
  const by = requireWrite(c.var.key);
  const id = idParam(c, 'survey');
  await act(tools, by, id);
  return await show(c, tools, { id });
}

async function show(
  c: Context<ApiEnv>,
  tools: SurveyTools,
  { id, status = 200 }: { id: string; status?: 200 | 201 },
) {
  const survey = await findSurvey(tools.db, c.var.key.org_id, id);
  if (!survey) throw notFound('survey');
  return c.json({ data: surveyToJson(survey, tools.publicUrl) }, status);
}

export const surveySection: ApiSection = {
  name: 'Surveys',
  about: 'A survey asks for a score, a comment and follow-up questions.',
  schemas: { SurveyItem, Survey },
  bodies: surveyBodies,
  operations: {
    'get /api/v1/surveys': {
      id: 'listSurveys',
      summary: 'List surveys, newest first',
      about: 'Surveys of every status.',
      query: Page,
      answer: { about: 'a page of surveys', schema: List(SurveyItem) },
    },
    'get /api/v1/surveys/{id}': {
      id: 'getSurvey',
      summary: 'Get a survey with its results',
      about: '`stats` covers all responses that are not on hold.',
      answer: { about: 'the survey', schema: One(Survey) },
    },
    'post /api/v1/surveys': {
      id: 'createSurvey',
      summary: 'Create a survey',
      about:
        'Texts can contain placeholders for the contact: `{{name}}`, `{{first_name}}` and `{{properties.NAME}}`, ' +
        "with an optional fallback such as `{{first_name|there}}`. Respondents see the language of the contact's " +
        "`language` property, otherwise the language of their browser, otherwise the survey's own language.",
      body: NewSurveyInput,
      answer: { status: 201, about: 'the survey', schema: One(Survey) },
    },
    'patch /api/v1/surveys/{id}': {
      id: 'changeSurvey',
      summary: 'Change a survey',
      about:
        'Fields that you leave out keep their values. New texts appear on pages and in emails immediately.',
      ifMatch: true,
      body: SurveyChangeInput,
      answer: { about: 'the survey', schema: One(Survey) },
      refusals: {
        409: ['survey_has_answers', 'survey_completed', 'survey_in_use', 'question_has_answers'],
      },
    },
    'delete /api/v1/surveys/{id}': {
      id: 'deleteSurvey',
      summary: 'Delete a survey',
      about: 'Also deletes its contacts, emails and totals.',
      query: DeleteQuery,
      answer: { status: 204, about: 'the survey is deleted' },
      refusals: { 409: ['survey_has_answers'] },
    },
    'post /api/v1/surveys/{id}/open': {
      id: 'openSurvey',
      summary: 'Open a draft',
      about: 'The survey can then be sent and answered. Does nothing if it is already open.',
      answer: { about: 'the survey', schema: One(Survey) },
      refusals: { 409: ['survey_completed'] },
    },
    'post /api/v1/surveys/{id}/close': {
      id: 'closeSurvey',
      summary: 'Close a survey',
      about:
        'Its links show that it is closed until you reopen it. Does nothing if it is already closed.',
      answer: { about: 'the survey', schema: One(Survey) },
    },
    'post /api/v1/surveys/{id}/reopen': {
      id: 'reopenSurvey',
      summary: 'Reopen a completed survey',
      about:
        'Also reopens a survey that completed with its last response. Does nothing if the survey is already active.',
      answer: { about: 'the survey', schema: One(Survey) },
      refusals: { 409: ['survey_draft'] },
    },
    'post /api/v1/surveys/{id}/copy': {
      id: 'copySurvey',
      summary: 'Copy a survey',
      about:
        'The copy is a draft with the same texts and settings, without contacts and responses.',
      answer: { status: 201, about: 'the copy', schema: One(Survey) },
    },
  },
};
