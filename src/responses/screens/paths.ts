import type { Context } from 'hono';
import { notFound } from '../../errors.ts';
import { isUuid } from '../../lib/validation/parse.ts';
import type { CurrentOrganization, ScreenEnv } from '../../sessions/session.ts';
import { type FlashNotice, flash } from '../../web/app/flash.ts';
import { withTypedProperties } from './property-filters.tsx';

/** An id that is not a UUID is not found, like one of another organization. */
export function idOf(c: Context<ScreenEnv>): string {
  const id = c.req.param('id') ?? '';
  if (!isUuid(id)) throw notFound('response');
  return id;
}

export const pathOf = (c: Context<ScreenEnv>) => `/o/${c.var.organization.slug}/responses`;

/** The list that one came from, with its filters. */
export const listPathOf = (c: Context<ScreenEnv>) => `${pathOf(c)}${queryOf(c)}`;

export const trailOf = (c: Context<ScreenEnv>) => [{ text: 'Responses', href: listPathOf(c) }];

/** The page of one response. It keeps the filters of the list in its own address. */
export const responsePathOf = (c: Context<ScreenEnv>, id: string) =>
  `${pathOf(c)}/${id}${queryOf(c)}`;

/** The filters in an address, with their question mark. */
export function queryOf(c: Context<ScreenEnv>): string {
  const query = new URLSearchParams(
    Object.entries(filled(c)).flatMap(([name, values]) => values.map((value) => [name, value])),
  );
  return query.size === 0 ? '' : `?${query}`;
}

/** A field that was left empty is no filter. */
export const filled = (c: Context<ScreenEnv>): Record<string, string[]> =>
  withTypedProperties(
    Object.fromEntries(
      Object.entries(c.req.queries())
        .map(([name, values]) => [name, values.filter((value) => value !== '')] as const)
        .filter(([, values]) => values.length > 0),
    ),
  );

/** Days are those of the organization's clock, as on Home, unless the address says otherwise. */
export const inZone = ({ timeZone }: Pick<CurrentOrganization, 'timeZone'>) => ({ tz: [timeZone] });

/** Leads on after an act, with what became of it. */
export function go(c: Context<ScreenEnv>, path: string, notice: FlashNotice) {
  flash(c, notice);
  return c.redirect(path, 303);
}
