import { type KnownPeople, knownPeople } from '../contacts/known.cte.ts';
import { commitsSoon, type Sql } from '../lib/db/db.ts';
import type { SurveyType } from '../scores.ts';
import type { Embedding } from '../surveys/asking.schemas.ts';
import type { AddressedPerson } from '../surveys/placeholders.ts';
import type { SurveyTexts, TextsByLanguage } from '../surveys/texts.ts';
import type { LinkVisit } from './rules.ts';

/** The survey behind a link, and whose link it is. */
export type SurveyLink = KnownPeople & {
  survey_id: string;
  org_id: string;
  type: SurveyType;
  question_text: string;
  follow_up: SurveyTexts['follow_up'];
  thanks: SurveyTexts['thanks'];
  texts: TextsByLanguage;
  embed: Partial<Embedding>;
  language: string;
  status: 'draft' | 'active' | 'completed';
  completed_by: 'answers' | 'hand' | null;
  organization: string;
  color: string;
  logo: string | null;
  /** The types of the events that webhooks of the organization subscribed to. */
  subscribed_events: string[];
  analyzes_comments: boolean;
  /** Null for the shareable link. */
  contact_id: string | null;
  /** The contact as the survey's texts address it; null when they address it by nothing. */
  person: AddressedPerson | null;
  /** What the contact, or this browser, has answered already. */
  answered: { score: number; comment: string | null; at: string } | null;
  /** The visits of the last minute, before this one; none for the shareable link. */
  visits: LinkVisit[];
  /** The span that the contact's mail was requested in; only read with `traced`. */
  mail_traceparent: string | null;
  now: Date;
};

type NewVisit = { kind: LinkVisit['kind']; method: string; score: number | null; traced: boolean };

/**
 * Finds what a contact's link leads to, with its recent visits, and records this visit. At most sixty
 * visits a minute are recorded. The visits are found by their contact. The
 * answer is found by its contact alone as well: a condition that it counts would let a plan from when there were few responses
 * read all that count, by an index of these. A page and an answer do not wait until the disk has the visit, which only
 * helps to recognize machines: so it is called outside of any transaction.
 */
export async function visitPersonalLink(sql: Sql, token: string, visit: NewVisit) {
  const [link] = await sql<SurveyLink[]>`
    -- all organizations
    with contact as materialized (
      select id, org_id, survey_id, name, email, properties
      from contacts
      where token = ${token} and ${commitsSoon(sql)}
    ), recent as materialized (
      select kind, score, extract(epoch from now() - visited_at) * 1000 as ago
      from (
        select kind, score, visited_at
        from link_visits
        where contact_id = (select id from contact)
          and visited_at > now() - interval '1 minute' and visited_at < now() + interval '1 minute'
        order by visited_at desc
        limit 60
      ) as newest
    ), recorded as (
      insert into link_visits (org_id, survey_id, contact_id, kind, method, score)
      select org_id, survey_id, id, ${visit.kind}, ${visit.method}, ${visit.score}::smallint
      from contact
      where (select count(*) from recent) < 60
    )
    select ${surveyColumns(sql, 'contact')},
           c.id as contact_id,
           case when s.texts <> '{}' or concat(s.question_text, s.follow_up, s.thanks) like '%{{%'
             then json_build_object('name', c.name, 'properties', c.properties) end as person,
           (select case when held_reason is null
                     then json_build_object('score', score, 'comment', comment, 'at', created_at) end
            from responses
            where contact_id = c.id and source = 'link') as answered,
           coalesce((select json_agg(json_build_object('kind', kind, 'score', score, 'agoMs', ago))
                     from recent), '[]') as visits,
           ${mailTraceparent(sql, visit.traced)} as mail_traceparent
    from contact c
    join surveys s on s.org_id = c.org_id and s.id = c.survey_id
    join organizations o on o.id = c.org_id`;
  return link;
}

/** Finds what a shareable link leads to; `responseId` is what the browser's cookie says it has answered. */
export async function findSharedLink(sql: Sql, shareId: string, responseId: string | null) {
  const [link] = await sql<SurveyLink[]>`
    -- all organizations
    select ${surveyColumns(sql, 'anonymous')},
           null as contact_id, null as person, '[]'::json as visits, null as mail_traceparent,
           (select json_build_object('score', score, 'comment', comment, 'at', created_at)
            from responses r
            where r.org_id = s.org_id and r.survey_id = s.id and r.id = ${responseId}::uuid
              and r.source = 'share') as answered
    from surveys s
    join organizations o on o.id = s.org_id
    where s.share_id = ${shareId}`;
  return link;
}

/** Whether a personal (`s`) or shareable link leads anywhere. */
export async function linkExists(sql: Sql, path: 's' | 'f' | 'e', token: string): Promise<boolean> {
  const [found] =
    path === 's'
      ? await sql`
        -- all organizations
        select from contacts where token = ${token}`
      : await sql`
        -- all organizations
        select from surveys where share_id = ${token}`;
  return found !== undefined;
}

/** Of the contact's newest mail; hardly any contact has more than one. */
const mailTraceparent = (sql: Sql, traced: boolean) =>
  traced
    ? sql`(select traceparent from mails
           where contact_id = c.id and org_id = c.org_id
           order by claimed_at desc limit 1)`
    : sql`null`;

const surveyColumns = (sql: Sql, giver: 'contact' | 'anonymous') => sql`
  s.id as survey_id, s.org_id, s.type, s.question_text, s.follow_up, s.thanks, s.texts, s.embed, s.language, s.status, s.completed_by,
  o.name as organization, o.color, o.logo, now() as now,
  ${knownPeople(sql, giver)},
  array(select distinct unnest(w.events) from webhooks w where w.org_id = o.id) as subscribed_events,
  o.ai_enabled as analyzes_comments`;
