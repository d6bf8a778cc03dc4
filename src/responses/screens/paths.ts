import type { Context } from 'hono';
import { notFound } from '../../errors.ts';
import { isUuid } from '../../lib/validation/parse.ts';
import type { ScreenEnv } from '../../sessions/session.ts';
import { type FlashNotice, flash } from '../../web/app/flash.ts';

/** An id that is not a UUID is not found, like one of another organization. */
export function idOf(c: Context<ScreenEnv>): string {
  const id = c.req.param('id') ?? '';
  if (!isUuid(id)) throw notFound('response');
  return id;
}

export const pathOf = (c: Context<ScreenEnv>) => `/o/${c.var.organization.slug}/responses`;
export const trailOf = (c: Context<ScreenEnv>) => [{ text: 'Responses', href: pathOf(c) }];

/** Leads on after an act, with what became of it. */
export function go(c: Context<ScreenEnv>, path: string, notice: FlashNotice) {
  flash(c, notice);
  return c.redirect(path, 303);
}
