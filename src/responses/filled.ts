import type { Context } from 'hono';
import { Refusal } from '../errors.ts';
import { readBody } from '../platform/http.ts';
import { parseJson } from '../platform/json.ts';
import { trapField } from './form.tsx';

/** What somebody filled in, before it is checked. */
export type Filled = { score: unknown; comment: unknown; trapped: boolean };

/** Programs say so, by what they send or by what they want to read. */
export function wantsJson(c: Context): boolean {
  const accepts = c.req.header('Accept') ?? '';
  return isJson(c) || (accepts.includes('application/json') && !accepts.includes('text/html'));
}

const isJson = (c: Context) => /^application\/json\b/i.test(c.req.header('Content-Type') ?? '');

export async function readFilled(c: Context): Promise<Filled> {
  const body = await readBody(c);
  const fields = isJson(c) ? readObject(body) : Object.fromEntries(new URLSearchParams(body));
  return {
    score: fields['score'],
    comment: fields['comment'],
    trapped: fields[trapField] !== undefined && fields[trapField] !== '',
  };
}

function readObject(body: string): Record<string, unknown> {
  const value = parseJson(body);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return value as Record<string, unknown>;
  }
  throw new Refusal('invalid', 'the body must be a JSON object', { code: 'invalid_json' });
}
