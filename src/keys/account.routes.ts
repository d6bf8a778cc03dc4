import { Hono } from 'hono';
import { keyAccount, usageJson } from './account.queries.ts';
import type { ApiEnv, KeyTools } from './authenticate.ts';
import { createReader } from './read.ts';

export function accountReads(tools: KeyTools) {
  const { answer } = createReader(tools);
  return new Hono<ApiEnv>()
    .get('/me', (c) =>
      answer(c, 'key', (orgId) => keyAccount(tools.db, orgId, tools.settings.rateLimit)),
    )
    .get('/usage', (c) => answer(c, 'usage', (orgId) => usageJson(tools.db, orgId)));
}
