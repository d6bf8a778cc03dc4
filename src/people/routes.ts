import { Hono } from 'hono';
import { notFound } from '../errors.ts';
import type { ApiEnv } from '../keys/authenticate.ts';
import type { Db } from '../lib/db/db.ts';
import { answerRead } from '../lib/http/read-answer.ts';
import { timelineOf } from './timeline.ts';

export const peopleRoutes = ({ db }: { db: Db }) =>
  new Hono<ApiEnv>().get('/:email', async (c) => {
    const email = c.req.param('email');
    const events = await timelineOf(db, c.var.key.org_id, email);
    if (events.length === 0) throw notFound('person');
    return await answerRead(c, JSON.stringify({ data: { email, events } }));
  });
