import type { Context } from 'hono';
import { notFound } from '../../errors.ts';
import { isUuid } from '../../lib/validation/parse.ts';

/** Where the webhooks of an organization are, or one of them. */
export const pathOf = ({ slug }: { slug: string }, webhookId?: string) =>
  webhookId ? `/o/${slug}/webhooks/${webhookId}` : `/o/${slug}/webhooks`;

/** An id that is not a UUID is not found, like one of another organization. */
export function idOf(c: Context, name: string, what: string): string {
  const id = c.req.param(name) ?? '';
  if (!isUuid(id)) throw notFound(what);
  return id;
}
