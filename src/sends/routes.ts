import { Hono } from 'hono';
import { notFound } from '../errors.ts';
import { type ApiEnv, requireWrite } from '../keys/authenticate.ts';
import { parseBody } from '../lib/http/body.ts';
import { isUuid, parseWriteQuery } from '../lib/validation/parse.ts';
import { SendBody, SendQuery } from './schemas.ts';
import { type ContactResult, type SendTools, sendSurvey, trySend } from './send.ts';

type RouteTools = SendTools & { settings: { maxContacts: number } };

/** Mounted next to the surveys' own routes. */
export function sendRoutes(tools: RouteTools) {
  const Body = SendBody(tools.settings.maxContacts);
  return new Hono<ApiEnv>().post('/:id/send', async (c) => {
    const key = requireWrite(c.var.key);
    const surveyId = c.req.param('id');
    const { dry_run } = parseWriteQuery(SendQuery, c.req.queries());
    const { contacts } = await parseBody(c, Body, { parameters: SendQuery });
    if (!isUuid(surveyId)) throw notFound('survey');

    const wish = { surveyId, contacts, traceparent: c.get('traceparent') ?? null };
    const data = dry_run ? await trySend(tools, key, wish) : await sendSurvey(tools, key, wish);
    return c.json({ data: { ...data, results: data.results.map(noting(contacts)) } });
  });
}

const contactFields: readonly string[] = ['email', 'name', 'properties'];
const mostNames = 10;

/** Says of a contact what a client needs to find its own mistake: which place it had, and what was not read of it. */
const noting = (contacts: readonly unknown[]) => (result: ContactResult, index: number) => {
  const contact = contacts[index];
  const fields = typeof contact === 'object' && contact !== null ? Object.keys(contact) : [];
  const ignored = fields.filter((name) => !contactFields.includes(name)).slice(0, mostNames);
  return {
    ...result,
    ...(result.status === 'invalid' && { index }),
    ...(ignored.length > 0 && { ignored }),
  };
};
