import type { createApp } from '../../../src/app.ts';
import type { Sql } from '../../../src/lib/db/db.ts';
import { makeClient } from '../make/rows.ts';

type App = ReturnType<typeof createApp>;
type CallResult = { status: number; body: Record<string, unknown> };

/** An organization that sends requests with its write key, or with the headers of the test. */
export async function makeCaller(sql: Sql, app: App) {
  const { id, read, write } = await makeClient(sql);

  async function call(method: string, path: string, given: Given = {}): Promise<CallResult> {
    const body = given.body === undefined ? null : JSON.stringify(given.body);
    const headers = { ...write, ...given.headers };
    const answer = await app.request(`/api/webhooks${path}`, { method, headers, body });
    const text = await answer.text();
    return { status: answer.status, body: text === '' ? {} : JSON.parse(text) };
  }

  return { id, read, write, call };
}

type Given = { body?: unknown; headers?: Record<string, string> };
