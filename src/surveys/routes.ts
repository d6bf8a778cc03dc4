import { type Context, Hono } from 'hono';
import type { Writer } from '../audit/actor.ts';
import { notFound } from '../errors.ts';
import { type ApiEnv, type KeyTools, requireWrite } from '../keys/authenticate.ts';
import { createReader } from '../keys/read.ts';
import type { Db } from '../lib/db/db.ts';
import { parseBody } from '../lib/http/body.ts';
import { answerRead } from '../lib/http/read-answer.ts';
import { parsePage } from '../lib/paging/page.ts';
import { isUuid, parseWriteQuery } from '../lib/validation/parse.ts';
import { changeSurvey } from './change.ts';
import { copySurvey } from './copy.ts';
import { createSurvey } from './create.ts';
import { deleteSurvey } from './delete.ts';
import { closeSurvey, openSurvey, reopenByHand } from './lifecycle.ts';
import { findSurvey, listSurveys, type SurveyRow, surveyJson } from './queries.ts';
import { DeleteQuery } from './schemas.ts';
import { shownSurvey } from './stats.ts';
import { NewSurveyInput, SurveyChangeInput } from './wish.schemas.ts';

type SurveyTools = { db: Db; publicUrl: string };

export function surveyReads(tools: KeyTools & SurveyTools) {
  const { db, publicUrl } = tools;
  const { read, answer, byQuery } = createReader(tools);
  const list = byQuery((orgId, queries) => listSurveys(db, orgId, parsePage(queries)));
  return new Hono<ApiEnv>()
    .get('/', (c) => answer(c, 'list', list(c)))

    .get('/:id', async (c) => {
      const id = c.req.param('id');
      const survey = await read(c, (orgId) => (isUuid(id) ? surveyJson(db, orgId, id) : undefined));
      if (survey === null) throw notFound('survey');
      const data = shownSurvey(parseSurvey(survey), publicUrl);
      return await answerRead(c, JSON.stringify({ data }));
    });
}

/** What changes surveys. Each answers with the survey as a read would. */
export const surveyRoutes = (tools: SurveyTools) =>
  new Hono<ApiEnv>()
    .post('/', async (c) => {
      const by = requireWrite(c.var.key);
      const { id } = await createSurvey(tools, by, await parseBody(c, NewSurveyInput));
      return show(c, tools, { id, status: 201 });
    })

    .patch('/:id', async (c) => {
      const by = requireWrite(c.var.key);
      const id = idOf(c);
      const change = await parseBody(c, SurveyChangeInput);
      await changeSurvey(tools, by, { id, change });
      return show(c, tools, { id });
    })

    .delete('/:id', async (c) => {
      const by = requireWrite(c.var.key);
      const { answers } = parseWriteQuery(DeleteQuery, c.req.queries());
      await deleteSurvey(tools, by, { id: idOf(c), withAnswers: answers === 'delete' });
      return c.body(null, 204);
    })

    .post('/:id/open', (c) => move(c, tools, openSurvey))
    .post('/:id/close', (c) => move(c, tools, closeSurvey))
    .post('/:id/reopen', (c) => move(c, tools, reopenByHand))

    .post('/:id/copy', async (c) => {
      const by = requireWrite(c.var.key);
      const { id } = await copySurvey(tools, by, idOf(c));
      return show(c, tools, { id, status: 201 });
    });

type Move = (tools: SurveyTools, by: Writer, surveyId: string) => Promise<unknown>;

async function move(c: Context<ApiEnv>, tools: SurveyTools, act: Move) {
  const by = requireWrite(c.var.key);
  const id = idOf(c);
  await act(tools, by, id);
  return await show(c, tools, { id });
}

/** An id that is not a UUID is not found, like one of another organization. */
function idOf(c: Context<ApiEnv>): string {
  const id = c.req.param('id') ?? '';
  if (!isUuid(id)) throw notFound('survey');
  return id;
}

type Shown = { id: string; status?: 200 | 201 };

async function show(c: Context<ApiEnv>, tools: SurveyTools, { id, status = 200 }: Shown) {
  const survey = await findSurvey(tools.db, c.var.key.org_id, id);
  if (!survey) throw notFound('survey');
  return c.json({ data: shownSurvey(survey, tools.publicUrl) }, status);
}

function parseSurvey(json: string): SurveyRow {
  const row = JSON.parse(json) as SurveyRow;
  return {
    ...row,
    created_at: new Date(row.created_at),
    updated_at: new Date(row.updated_at),
  };
}
