import type { Context } from 'hono';
import { Refusal } from '../errors.ts';
import { readBody } from '../lib/http/http.ts';
import { parseJson } from '../lib/validation/json.ts';
import { sendsJson } from '../web/wants-json.ts';
import type { Submission } from './rules.ts';
import { trapField } from './view/form.tsx';

/** Reads a posted form or JSON object; `trap` when it was posted to the hidden link. */
export async function readSubmission(c: Context, trap: boolean): Promise<Submission> {
  const body = await readBody(c);
  const fields = sendsJson(c) ? readObject(body) : Object.fromEntries(new URLSearchParams(body));
  const filledIn = fields[trapField] !== undefined && fields[trapField] !== '';
  return {
    score: fields['score'],
    comment: fields['comment'],
    honeypotHit: trap || filledIn,
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
