import type { Sql } from '../lib/db/db.ts';
import type { SurveyType } from '../scores.ts';
import type { ScannerSign } from './rules.ts';

export type AskedSurvey = {
  id: string;
  org_id: string;
  type: SurveyType;
  question_text: string;
  language: string;
  status: 'draft' | 'active' | 'completed';
  completed_by: 'answers' | 'hand' | null;
  organization: string;
  color: string;
  known_names: string[];
  known_addresses: string[];
};

export type Answered = { score: number; comment: string | null; at: Date };

/** What a personal link leads to. */
export type Personal = AskedSurvey & {
  contact_id: string;
  token: string;
  open_contacts: number;
  answered: { score: number; comment: string | null; at: string } | null;
  signals: ScannerSign[];
  /** The span that the contact's mail was asked for in; only looked for with `traced`. */
  mail_traceparent: string | null;
  now: Date;
};

type Opening = { kind: ScannerSign['kind']; method: string; score: number | null; traced: boolean };

/**
 * Opens a personal link: finds what it leads to, with what it saw lately, and remembers this opening.
 * Somebody who opens one again and again is remembered sixty times a minute at most.
 */
export async function openPersonal(sql: Sql, token: string, opening: Opening) {
  const [found] = await sql<Personal[]>`
    with contact as materialized (
      select id, org_id, survey_id, token, name, email
      from contacts
      where token = ${token}
    ), lately as materialized (
      select kind, score, extract(epoch from now() - visited_at) * 1000 as ago
      from link_visits
      where contact_id = (select id from contact) and visited_at > now() - interval '1 minute'
      limit 60
    ), remembered as (
      insert into link_visits (org_id, survey_id, contact_id, kind, method, score)
      select org_id, survey_id, id, ${opening.kind}, ${opening.method}, ${opening.score}::smallint
      from contact
      where (select count(*) from lately) < 60
    )
    select ${surveyColumns(sql, sql`array[c.name, s.from_name]`, sql`array[c.email, s.from_email, s.reply_to]`)},
           c.id as contact_id, c.token,
           (select coalesce(sum(contacts - responded), 0)::int
            from survey_tallies where org_id = s.org_id and survey_id = s.id) as open_contacts,
           (select json_build_object('score', score, 'comment', comment, 'at', created_at)
            from responses
            where contact_id = c.id and source = 'link' and held_reason is null) as answered,
           coalesce((select json_agg(json_build_object('kind', kind, 'score', score, 'agoMs', ago))
                     from lately), '[]') as signals,
           ${mailTraceparent(sql, opening.traced)} as mail_traceparent, now() as now
    from contact c
    join surveys s on s.org_id = c.org_id and s.id = c.survey_id
    join organizations o on o.id = c.org_id`;
  return found;
}

/** What a shareable link leads to. */
export type Shared = AskedSurvey & {
  share_id: string;
  answered: Personal['answered'];
  now: Date;
};

/** `answerId` is what this browser has answered, as far as it remembers. */
export async function findShared(sql: Sql, shareId: string, answerId: string | null) {
  const [found] = await sql<Shared[]>`
    select ${surveyColumns(sql, sql`array[s.from_name]`, sql`array[s.from_email, s.reply_to]`)},
           s.share_id, now() as now,
           (select json_build_object('score', score, 'comment', comment, 'at', created_at)
            from responses r
            where r.org_id = s.org_id and r.survey_id = s.id and r.id = ${answerId}::uuid
              and r.source = 'share') as answered
    from surveys s
    join organizations o on o.id = s.org_id
    where s.share_id = ${shareId}`;
  return found;
}

/** Of the contact's newest mail, of which there is hardly ever more than one. */
const mailTraceparent = (sql: Sql, traced: boolean) =>
  traced
    ? sql`(select traceparent from mails
           where contact_id = c.id and org_id = c.org_id
           order by claimed_at desc limit 1)`
    : sql`null`;

type Part = ReturnType<Sql>;

const surveyColumns = (sql: Sql, names: Part, addresses: Part) => sql`
  s.id, s.org_id, s.type, s.question_text, s.language, s.status, s.completed_by,
  o.name as organization, o.color,
  array_remove(o.people || ${names}, null) as known_names,
  array_remove(${addresses} || o.contact_email, null) as known_addresses`;
