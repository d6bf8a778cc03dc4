import { hideFromPlanner, one, type Part, type Sql } from '../lib/db/db.ts';
import type { OrgId } from '../limits.ts';
import { wordsInOrder } from '../questions/queries.ts';
import {
  frequentProperties,
  type PropertyValues,
  sampledRows,
} from '../responses/property-values.ts';
import type { Suppression } from '../suppressions/queries.ts';
import type { Category, SurveyType } from '../survey-types.ts';
import { type PeopleQuery, type Person, peopleRows } from './directory.ts';

export type AnswerOfPerson = {
  id: string;
  type: SurveyType;
  score: number;
  category: Category;
  comment: string | null;
  created_at: Date;
};

export async function listPersonAnswers(sql: Sql, orgId: string, email: string) {
  return await sql<AnswerOfPerson[]>`
    select r.id, s.type, r.score, r.category, r.created_at,
           nullif(concat_ws(' · ', r.comment, ${wordsInOrder(sql)}), '') as comment
    from contacts c
    join responses r on r.org_id = c.org_id and r.contact_id = c.id
    join surveys s on s.org_id = c.org_id and s.id = c.survey_id
    where c.org_id = ${orgId} and c.email_key = lower(${email})
    order by r.created_at desc, r.id desc`;
}

export type PersonRow = {
  /** URLs must not contain email addresses. */
  id: string;
  email: string;
  name: string | null;
  last_asked_at: Date | null;
  /** The newest responses that count. */
  scores: { type: SurveyType; score: number; category: Category }[];
  suppressed: SuppressedAs | null;
};

const shownScores = 3;

type PeoplePage = { query: PeopleQuery; page: number; limit: number };

export async function listPeople(sql: Sql, orgId: string, { query, page, limit }: PeoplePage) {
  return await sql<PersonRow[]>`
    with newest as (
      select p.id, p.email, p.email_key, p.name, p.created_at
      from ${peopleRows(sql, orgId, query)}
      order by p.created_at desc, p.id desc
      limit ${limit}::int offset ${hideFromPlanner(sql, sql`${(page - 1) * limit}::bigint`)}
    )
    select n.id, n.email, n.name,
           (select max(sent_at) from contacts c where c.org_id = ${orgId} and c.email_key = n.email_key) as last_asked_at,
           (select coalesce(json_agg(json_build_object('type', a.type, 'score', a.score, 'category', a.category)
                                     order by a.created_at desc), '[]')
            from (
              select s.type, r.score, r.category, r.created_at
              from contacts c
              join responses r on r.org_id = ${orgId} and r.contact_id = c.id and r.held_reason is null
              join surveys s on s.org_id = ${orgId} and s.id = r.survey_id
              where c.org_id = ${orgId} and c.email_key = n.email_key
              order by r.created_at desc
              limit ${shownScores}
            ) a) as scores,
           ${suppressedAs(sql, orgId, sql`n.email_key`)} as suppressed
    from newest n
    order by n.created_at desc, n.id desc`;
}

export type SuppressedAs = 'unsubscribed' | 'bounced' | 'blocked';

/** Null for an address that can be asked. */
const suppressedAs = (sql: Sql, orgId: OrgId, key: Part): Part => sql`
  (select case when s.by_hand then 'blocked' else s.kind end
   from suppressions s
   where s.org_id = ${orgId} and s.email = ${key}
   order by s.by_hand, s.kind desc
   limit 1)`;

export async function listPeopleProperties(sql: Sql, orgId: string): Promise<PropertyValues[]> {
  const sampled = sql`(
    select properties from people
    where org_id = ${orgId}
    order by created_at desc, id desc
    limit ${sampledRows}
  ) sampled`;
  const rows = await sql<{ properties: PropertyValues[] }[]>`
    select ${frequentProperties(sql, sampled)} as properties`;
  return one(rows).properties;
}

export async function countPeople(sql: Sql, orgId: string, query: PeopleQuery) {
  return one(
    await sql<{ count: number }[]>`
      select count(*)::int as count from ${peopleRows(sql, orgId, query)}`,
  ).count;
}

export type FoundPerson = Pick<Person, 'email' | 'name' | 'properties' | 'language'> & {
  suppressions: Pick<Suppression, 'id' | 'kind' | 'by_hand'>[];
  suppressed: SuppressedAs | null;
};

/** Finds a person by their own id or the id of a contact. */
export async function findPerson(sql: Sql, orgId: string, id: string) {
  const [person] = await sql<FoundPerson[]>`
    select coalesce(p.email, f.email) as email, p.name, coalesce(p.properties, '{}') as properties, p.language,
           (select coalesce(json_agg(json_build_object('id', s.id, 'kind', s.kind, 'by_hand', s.by_hand) order by s.kind), '[]')
            from suppressions s
            where s.org_id = ${orgId} and s.email = f.email_key) as suppressions,
           ${suppressedAs(sql, orgId, sql`f.email_key`)} as suppressed
    from (
      select email, email_key from people where org_id = ${orgId} and id = ${id}
      union all
      select email, email_key from contacts where org_id = ${orgId} and id = ${id}
      limit 1
    ) f
    left join people p on p.org_id = ${orgId} and p.email_key = f.email_key`;
  return person;
}
