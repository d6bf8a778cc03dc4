import type { Context } from 'hono';

/** Programs say so, by what they send or by what they want to read. */
export function wantsJson(c: Context): boolean {
  const accepts = c.req.header('Accept') ?? '';
  return sendsJson(c) || (accepts.includes('application/json') && !accepts.includes('text/html'));
}

export const sendsJson = (c: Context) =>
  /^application\/json\b/i.test(c.req.header('Content-Type') ?? '');
