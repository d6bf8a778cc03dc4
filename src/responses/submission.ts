import type { Context } from 'hono';
import { Refusal } from '../errors.ts';
import { readBody } from '../lib/http/http.ts';
import { parseJson } from '../lib/validation/json.ts';
import { sendsJson } from '../web/wants-json.ts';
import { trapField } from './form.tsx';

/** What somebody filled in, before it is checked; and the span of the request that brought it. */
export type Submission = {
  score: unknown;
  comment: unknown;
  trapped: boolean;
  traceparent: string | null;
};

export async function readSubmission(c: Context): Promise<Submission> {
  const body = await readBody(c);
  const fields = sendsJson(c) ? readObject(body) : Object.fromEntries(new URLSearchParams(body));
  return {
    score: fields['score'],
    comment: fields['comment'],
    trapped: fields[trapField] !== undefined && fields[trapField] !== '',
    traceparent: c.get('traceparent') ?? null,
  };
}

function readObject(body: string): Record<string, unknown> {
  const value = parseJson(body);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return value as Record<string, unknown>;
  }
  throw new Refusal('invalid', 'the body must be a JSON object', { code: 'invalid_json' });
}
