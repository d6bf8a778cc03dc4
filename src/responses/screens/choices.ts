import type { Sql } from '../../lib/db/db.ts';
import type { Question } from '../../questions/definition.ts';
import { listQuestions } from '../../questions/queries.ts';
import type { Category, SurveyType } from '../../survey-types.ts';
import { frequentProperties, type PropertyValues, sampledRows } from '../property-values.ts';

/** Names of the choices in filters and forms. */
export type FilterChoices = {
  surveys: { id: string; name: string }[];
  tags: { id: string; name: string }[];
  members: { email: string; name: string }[];
};

const maxSurveys = 100;

/** The newest surveys and the selected survey, all tags and all members. */
export async function findChoices(sql: Sql, orgId: string, surveyId: string | null) {
  const [choices] = await sql<FilterChoices[]>`
    select
      (select coalesce(json_agg(json_build_object('id', id, 'name', name) order by lower(name), id), '[]')
       from (
         (select id, name from surveys where org_id = ${orgId} order by created_at desc, id desc limit ${maxSurveys})
         union
         select id, name from surveys where org_id = ${orgId} and id = ${surveyId}
       ) s) as surveys,
      (select coalesce(json_agg(json_build_object('id', id, 'name', name) order by lower(name), name), '[]')
       from tags where org_id = ${orgId}) as tags,
      (select coalesce(json_agg(json_build_object('email', m.email, 'name', m.name) order by lower(m.name), m.id), '[]')
       from memberships ms
       join members m on m.id = ms.member_id
       where ms.org_id = ${orgId}) as members`;
  return choices!;
}

export type RecentValues = {
  properties: PropertyValues[];
  themes: string[];
  questions: readonly Question[];
};

const maxThemes = 30;

/** The most frequent properties and themes of the newest responses, and all questions with options. */
export async function findRecentValues(sql: Sql, orgId: string, surveyId: string | null) {
  const [[found], questions] = await Promise.all([
    sql<Omit<RecentValues, 'questions'>[]>`
      with sampled as materialized (
        select id, properties
        from responses
        where org_id = ${orgId} and held_reason is null
        order by created_at desc, id desc
        limit ${sampledRows}
      ), mentioned as (
        select theme
        from sampled
        join analyses a on a.org_id = ${orgId} and a.response_id = sampled.id
        cross join lateral unnest(a.themes) theme
        group by theme
        order by count(*) desc, theme
        limit ${maxThemes}
      )
      select ${frequentProperties(sql, sql`sampled`)} as properties,
             (select coalesce(json_agg(theme order by theme), '[]') from mentioned) as themes`,
    listQuestions(sql, orgId, surveyId),
  ]);
  return { ...found!, questions: questions.filter(({ kind }) => kind !== 'text') };
}

type ResponseOrigin = {
  held_reason: string | null;
  provider: string | null;
  contact_id: string | null;
  /** Sender of the survey's emails. */
  from_email: string;
  reply_to: string;
  /** Why the person gets no surveys. */
  suppressed: ('unsubscribed' | 'blocked' | 'bounced')[];
};

export async function findOrigin(sql: Sql, orgId: string, id: string) {
  const [origin] = await sql<ResponseOrigin[]>`
    select r.held_reason, a.provider, r.contact_id, s.from_email, s.reply_to,
           array(select case when k.by_hand then 'blocked' else k.kind end
                 from suppressions k
                 join contacts c on c.org_id = k.org_id and c.email_key = k.email
                 where k.org_id = ${orgId} and c.id = r.contact_id
                 order by k.kind) as suppressed
    from responses r
    join surveys s on s.org_id = r.org_id and s.id = r.survey_id
    left join analyses a on a.org_id = r.org_id and a.response_id = r.id
    where r.org_id = ${orgId} and r.id = ${id}`;
  return origin;
}

type OtherResponse = {
  id: string;
  survey_name: string;
  type: SurveyType;
  score: number;
  category: Category;
  comment: string | null;
  created_at: Date;
};

const maxOthers = 20;

/** Other responses of the person who gave a response. */
export async function listOthers(sql: Sql, orgId: string, id: string) {
  return await sql<OtherResponse[]>`
    select r.id, s.name as survey_name, s.type, r.score, r.category, r.comment, r.created_at
    from responses shown
    join contacts c on c.org_id = shown.org_id and c.id = shown.contact_id
    join contacts same on same.org_id = c.org_id and same.email_key = c.email_key
    join responses r on r.org_id = c.org_id and r.contact_id = same.id and r.id <> shown.id
    join surveys s on s.org_id = r.org_id and s.id = r.survey_id
    where shown.org_id = ${orgId} and shown.id = ${id}
    order by r.created_at desc, r.id desc
    limit ${maxOthers}`;
}
