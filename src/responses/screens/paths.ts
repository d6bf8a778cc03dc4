import type { Context } from 'hono';
import type * as v from 'valibot';
import type { CurrentOrganization, ScreenEnv } from '../../sessions/session.ts';
import { addDays, localDay } from '../period.ts';
import { filledIn, type Queries, searchOf } from '../property-filters.tsx';
import type { Response } from '../schemas.ts';

export type ShownResponse = v.InferOutput<typeof Response>;

export const personOf = ({ contact_name, contact_email }: ShownResponse) =>
  contact_name ?? contact_email ?? 'Anonymous';

export const pathOf = (c: Context<ScreenEnv>) => `/o/${c.var.organization.slug}/responses`;

export function queryOf(c: Context<ScreenEnv>): string {
  const query = searchOf(filled(c));
  return query.size === 0 ? '' : `?${query}`;
}

export const filled = (c: Context<ScreenEnv>): Queries => filledIn(c.req.queries());

/** Value of `owner` that stands for the signed-in member. */
export const me = 'me';

type Reader = { organization: Pick<CurrentOrganization, 'timeZone'>; member: { email: string } };

/** Converts screen parameters to API parameters: `owner=me`, the last `days`, the default time zone. */
export function forApi({ days, ...queries }: Queries, { organization, member }: Reader): Queries {
  const { timeZone } = organization;
  const count = Number(days?.[0]);
  const isPeriod = Number.isInteger(count) && count > 0 && count <= maxDays;
  return {
    tz: [timeZone],
    ...queries,
    ...(queries['owner']?.[0] === me && { owner: [member.email] }),
    ...(isPeriod &&
      !queries['date_from'] && { date_from: [addDays(localDay(new Date(), timeZone), 1 - count)] }),
  };
}

const maxDays = 10_000;

/** Parameters that select no responses. */
export const notFilters = ['page', 'limit', 'cursor', 'tz', 'format'];

export const filtersIn = (queries: Queries): [string, string][] =>
  [...searchOf(queries)].filter(([name]) => !notFilters.includes(name));

/** Two queries with the same filters have the same key. */
export const keyOfFilters = (filters: readonly (readonly [string, string])[]): string =>
  JSON.stringify(filters.map((pair) => JSON.stringify(pair)).sort());
