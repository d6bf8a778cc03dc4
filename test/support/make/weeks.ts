import type { Db } from '../../../src/lib/db/db.ts';
import type { Facet } from '../../../src/responses/filter.queries.ts';
import { makeOrganization, makeSurvey } from './rows.ts';

type Weeks = {
  responses: number;
  /** How many were given at the same time, and how long after those before them. */
  together: number;
  minutes: number;
};

/**
 * Weeks of about forty responses a day, from the 6th of March 2024 on, most of them not at a half hour: of two surveys,
 * with properties, two languages, and some on hold.
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

/** The facets of responses whose properties are these. */
export const propertyFacets = (asked: Readonly<Record<string, string>>): Facet[] =>
  Object.entries(asked).map(([name, value]) => ({ kind: 'property', name, value }));
