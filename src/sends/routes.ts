import { Hono } from 'hono';
import { notFound } from '../errors.ts';
import { type ApiEnv, requireWrite } from '../keys/authenticate.ts';
import { parseBody } from '../lib/http/body.ts';
import { isUuid, parseQuery } from '../lib/validation/parse.ts';
import { SendBody, SendQuery } from './schemas.ts';
import { type SendTools, sendSurvey, trySend } from './send.ts';

type RouteTools = SendTools & { settings: { maxContacts: number } };

/** Mounted next to the surveys' own routes. */
export function sendRoutes(tools: RouteTools) {
  const Body = SendBody(tools.settings.maxContacts);
  return new Hono<ApiEnv>().post('/:id/send', async (c) => {
    const key = requireWrite(c.var.key);
    const surveyId = c.req.param('id');
    const { dry_run } = parseQuery(SendQuery, c.req.queries());
    const { contacts } = await parseBody(c, Body);
    if (!isUuid(surveyId)) throw notFound('survey');

    const wish = { surveyId, contacts, traceparent: c.get('traceparent') ?? null };
    const data = dry_run ? await trySend(tools, key, wish) : await sendSurvey(tools, key, wish);
    return c.json({ data });
  });
}
