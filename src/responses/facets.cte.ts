import type { Part, Sql } from '../lib/db/db.ts';
import type { OrgId } from '../org-id.ts';

/** What a response is found by: a property of its contact, a tag (by id) or its sentiment. */
export type Facet = { kind: 'property' | 'tag' | 'sentiment'; name: string; value: string };

/**
 * Responses that count and have all these facets: id, org_id, created_at, survey_id, category and score, in the order of
 * an index. Of several, the rows of the rarest are read, and each is looked up with the others.
 */
export const facetRows = (sql: Sql, orgId: OrgId, facets: readonly Facet[]): Part => sql`(
  select f.response_id as id, f.org_id, f.created_at, f.survey_id, f.category, f.score
  from response_facets f
  where f.org_id = ${orgId} and f.facet = ${facets.length > 1 ? rarest(sql, orgId, facets) : facetOf(sql, facets[0]!)}
    ${facets.length > 1 ? hasFacets(sql, { orgId, facets }, sql`f.created_at, f.response_id`) : sql``}
)`;

/** A facet of as many responses is large. */
const largeFacet = 20_000;
/** Counting stops here where the rarest facet is looked for. */
const mostCompared = 100_000;

const rarest = (sql: Sql, orgId: OrgId, facets: readonly Facet[]) => sql`(
  select facet
  from unnest(array[${facets.map((facet) => facetOf(sql, facet)).reduce((before, facet) => sql`${before}, ${facet}`)}]) facet
  order by (${countUpTo(sql, orgId, { facet: sql`facet.facet`, most: mostCompared })})
  limit 1
)`;

type UpTo = { facet: Part; most: number };
const countUpTo = (sql: Sql, orgId: OrgId, { facet, most }: UpTo) => sql`
  select count(*)
  from (select from response_facets c where c.org_id = ${orgId} and c.facet = ${facet} limit ${most}) counted`;

/** Whether each of these facets has many responses, as a condition that is the same for every row. */
export function areLarge(sql: Sql, orgId: OrgId, facets: readonly Facet[]): Part {
  const facet = facets.length > 1 ? rarest(sql, orgId, facets) : facetOf(sql, facets[0]!);
  return sql`((${countUpTo(sql, orgId, { facet, most: largeFacet })}) = ${largeFacet})`;
}

type Wanted = { orgId: OrgId; facets: readonly Facet[] };

/** The conditions that a response which counts, known by time and id, has all these facets. */
export const hasFacets = (sql: Sql, { orgId, facets }: Wanted, row: Part): Part =>
  facets.reduce(
    (before, facet) => sql`${before} and (
      select true
      from response_facets x
      where x.org_id = ${orgId} and x.facet = ${facetOf(sql, facet)} and (x.created_at, x.response_id) = (${row})
    )`,
    sql``,
  );

/** The same for a response `r` on hold, which has no facets yet: what they would be made of is read. */
export const wouldHaveFacets = (sql: Sql, facets: readonly Facet[]): Part =>
  facets.reduce((before, facet) => sql`${before} and ${wouldHave(sql, facet)}`, sql``);

function wouldHave(sql: Sql, facet: Facet): Part {
  if (facet.kind === 'sentiment') return sql`false`;
  if (facet.kind === 'tag') {
    return sql`exists (
      select from response_tags t
      where t.org_id = r.org_id and t.response_id = r.id and t.tag_id = ${facet.value}::uuid)`;
  }
  return sql`(r.contact_id is null and ${facetOf(sql, facet)} in (select property_facets(r.properties)) or exists (
    select from contacts c, property_facets(c.properties) facet
    where c.org_id = r.org_id and c.survey_id = r.survey_id and c.id = r.contact_id and facet = ${facetOf(sql, facet)}))`;
}

/** What an index knows a facet by. */
export const facetOf = (sql: Sql, { kind, name, value }: Facet) =>
  sql`facet_of(${kind}::text, ${name}::text, ${value}::text)`;
