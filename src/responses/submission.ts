import type { Context } from 'hono';
import { Refusal } from '../errors.ts';
import { parseJson } from '../lib/validation/json.ts';
import { sendsJson } from '../web/wants-json.ts';
import { readHandedIn } from './handed-in.ts';
import type { Submission } from './rules.ts';
import { trapField } from './view/form.tsx';

/** The submission in the body of a posted form or JSON object; `trap` when it was posted to the hidden link. */
export function readSubmission(c: Context, body: string, trap: boolean): Submission {
  const fields = sendsJson(c) ? readObject(body) : Object.fromEntries(new URLSearchParams(body));
  const filledIn = fields[trapField] !== undefined && fields[trapField] !== '';
  return {
    score: fields['score'],
    comment: fields['comment'],
    honeypotHit: trap || filledIn,
    properties: readHandedIn(fields['properties']),
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
