import { Hono } from 'hono';
import type { ApiEnv, KeyTools } from '../keys/authenticate.ts';
import { createReader } from '../keys/read.ts';
import { tagsJson } from './queries.ts';

export function tagReads(tools: KeyTools) {
  const { answer } = createReader(tools);
  return new Hono<ApiEnv>().get('/', (c) =>
    answer(c, 'list', (orgId) => tagsJson(tools.db, orgId)),
  );
}
