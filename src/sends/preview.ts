import PostalMime from 'postal-mime';
import { notFound, Refusal } from '../errors.ts';
import { inLanguage, surveyFillings, surveyMail } from '../letters/mail.ts';
import type { Sql } from '../lib/db/db.ts';
import { compose } from '../lib/smtp/compose.ts';
import { findMailed } from './preview.queries.ts';

/** An invented contact: the links in a preview lead to no contact. */
const reader = {
  sendId: '00000000-0000-0000-0000-000000000000',
  email: 'reader@example.com',
  name: 'Robin Reader',
  properties: {},
  token: 'preview',
};

type MailPreview = { surveyId: string; publicUrl: string; language?: string | undefined };

/** A survey's mail as a mail program reads it: composed whole and taken apart again. */
export async function previewMail(sql: Sql, { surveyId, publicUrl, language }: MailPreview) {
  const mailed = await findMailed(sql, surveyId);
  if (!mailed) throw notFound('survey');
  if (language && language !== mailed.survey.language && !mailed.survey.texts[language]) {
    throw new Refusal('invalid', `the survey has no texts in ${language}`);
  }
  const survey = inLanguage(mailed.survey, language ?? mailed.survey.language);
  const mail = { survey, organization: mailed.organization, publicUrl };
  const raw = compose(surveyMail(mail))(surveyFillings(mail)(reader, new Date()));
  const { subject = '', text = '', html = '' } = await PostalMime.parse(raw);
  return { subject, text, html };
}
