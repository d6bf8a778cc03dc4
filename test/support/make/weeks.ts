import type { Db } from '../../../src/lib/db/db.ts';
import type { Facet } from '../../../src/responses/filter.queries.ts';
import { makeOrganization, makeSurvey } from './rows.ts';

type Weeks = {
  responses: number;
  /** The number of responses with the same time, and the minutes between these groups. */
  together: number;
  minutes: number;
};

/**
 * Some weeks of about forty responses a day from 6 March 2024, most of them not on a half hour. There are two surveys,
 * two languages and properties, and some responses are on hold.
 */
export async function makeWeeks(db: Db, { responses, together, minutes }: Weeks) {
  const org = await makeOrganization(db);
  const surveys = [await makeSurvey(db, org), await makeSurvey(db, org, { type: 'ces' })] as const;
  await db`
    insert into responses (org_id, survey_id, score, category, properties, language, held_reason, created_at)
    select ${org}, (${[...surveys]}::uuid[])[1 + n % 2], n % 8, (array['promoter', 'passive', 'detractor'])[1 + n % 7 % 3],
           jsonb_build_object('source', 'shop', 'plan', (array['pro', 'free'])[1 + n % 5 % 2], 'rare', n % 40),
           case when n % 89 = 0 then 'fr' else 'en' end, case when n % 53 = 0 then 'hidden_link' end,
           '2024-03-06T00:00:00Z'::timestamptz + n / ${together}::int * make_interval(mins => ${minutes}::int)
    from generate_series(1, ${responses}::int) n`;
  return { org, surveys };
}

/** Facets for these properties. */
export const propertyFacets = (asked: Readonly<Record<string, string>>): Facet[] =>
  Object.entries(asked).map(([name, value]) => ({ kind: 'property', name, value }));
