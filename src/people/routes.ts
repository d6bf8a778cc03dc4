import { Hono } from 'hono';
import { notFound } from '../errors.ts';
import { type ApiEnv, requireWrite } from '../keys/authenticate.ts';
import { answerRead } from '../lib/http/read-answer.ts';
import { parseWriteQuery } from '../lib/validation/parse.ts';
import { type EraseTools, erasePerson } from './erasure/erase.ts';
import { EraseQuery } from './erasure/schemas.ts';
import { timelineOf } from './timeline.ts';

export const peopleRoutes = (tools: EraseTools) =>
  new Hono<ApiEnv>()
    .get('/:email', async (c) => {
      const email = c.req.param('email');
      const events = await timelineOf(tools.db, c.var.key.org_id, email);
      if (events.length === 0) throw notFound('person');
      return await answerRead(c, JSON.stringify({ data: { email, events } }));
    })

    .delete('/:email', async (c) => {
      const by = requireWrite(c.var.key);
      const { scores } = parseWriteQuery(EraseQuery, c.req.queries());
      const wish = { email: c.req.param('email'), scores: kept[scores] };
      return c.json({ data: await erasePerson(tools, by, wish) });
    });

const kept = { keep: 'kept', delete: 'deleted' } as const;
