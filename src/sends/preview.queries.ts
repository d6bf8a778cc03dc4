import { notFound } from '../errors.ts';
import type { SurveyMail } from '../letters/mail.ts';
import type { Sql } from '../lib/db/db.ts';
import type { TextsByLanguage } from '../surveys/texts.ts';

export type Mailed = {
  survey: SurveyMail['survey'] & { texts: TextsByLanguage };
  organization: SurveyMail['organization'];
};

/** What the mail of a survey is made of. */
export async function findMailed(sql: Sql, surveyId: string) {
  const [found] = await sql<Mailed[]>`
    select json_build_object('id', v.id, 'type', v.type, 'audience', v.audience,
                             'question_text', v.question_text, 'subject', v.subject,
                             'intro', v.intro, 'texts', v.texts, 'language', v.language,
                             'from_name', v.from_name,
                             'from_email', v.from_email, 'reply_to', v.reply_to) as survey,
           ${sender(sql)} as organization
    from surveys v
    join organizations o on o.id = v.org_id
    where v.id = ${surveyId}`;
  return found;
}

/** What mails and pages show of an organization. */
export async function findMailSender(sql: Sql, orgId: string) {
  const [found] = await sql<Pick<Mailed, 'organization'>[]>`
    select ${sender(sql)} as organization from organizations o where o.id = ${orgId}`;
  if (!found) throw notFound('organization');
  return found.organization;
}

const sender = (sql: Sql) => sql`
  json_build_object('id', o.id, 'name', o.name, 'color', o.color, 'logo', o.logo,
                             'mail_foot', o.mail_foot, 'postal_address', o.postal_address)`;
