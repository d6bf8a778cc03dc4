import { MIMEType } from 'node:util';
import type { Context } from 'hono';
import { Refusal } from '../../errors.ts';
import { readRawBody } from './body.ts';

/** A form with more fields costs the requests of others more than a long text does. */
const mostFields = 1000;

/** The form in the body, read no further than `largest` bytes. What is not a form, or has too many fields, is refused unread. */
export async function readFormData(c: Context, largest?: number): Promise<FormData> {
  const type = c.req.header('Content-Type') ?? '';
  const { separator, most } = separatorsOf(type);
  const body = Buffer.from(await readRawBody(c, largest));
  if (hasMoreThan(most, separator, body)) throw tooManyFields();
  const response = new Response(body, { headers: { 'Content-Type': type } });
  return await response.formData().catch(() => Promise.reject(unreadable()));
}

/** What stands between two fields, and how often it may. A form in parts begins and ends with it. */
function separatorsOf(contentType: string): { separator: string; most: number } {
  const type = parseType(contentType);
  if (type?.essence === 'application/x-www-form-urlencoded') {
    return { separator: '&', most: mostFields - 1 };
  }
  const boundary = type?.essence === 'multipart/form-data' && type.params.get('boundary');
  if (!boundary) throw unreadable();
  return { separator: `--${boundary}`, most: mostFields + 1 };
}

function parseType(contentType: string) {
  try {
    return new MIMEType(contentType);
  } catch {
    return undefined; // a type that no browser sends
  }
}

function hasMoreThan(most: number, separator: string, body: Buffer): boolean {
  let at = -separator.length;
  for (let found = 0; found <= most; found++) {
    at = body.indexOf(separator, at + separator.length, 'latin1');
    if (at === -1) return false;
  }
  return true;
}

const unreadable = () =>
  new Refusal('invalid', 'The form could not be read.', { code: 'invalid_form' });

const tooManyFields = () =>
  new Refusal('too_large', `The form has more than ${mostFields} fields.`, {
    code: 'too_many_fields',
  });
