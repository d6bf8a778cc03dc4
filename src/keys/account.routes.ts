import { Hono } from 'hono';
import { keyAccount, usageJson } from './account.queries.ts';
import type { ApiEnv } from './authenticate.ts';
import { createReader, type ReaderTools } from './read.ts';

export function accountReads(tools: ReaderTools) {
  const { answer } = createReader(tools);
  return new Hono<ApiEnv>()
    .get('/me', (c) =>
      answer(c, 'key', (orgId) => keyAccount(tools.db, orgId, tools.settings.rateLimit)),
    )
    .get('/usage', (c) => answer(c, 'usage', (orgId) => usageJson(tools.db, orgId)));
}
