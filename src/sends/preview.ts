import PostalMime from 'postal-mime';
import { notFound, Refusal } from '../errors.ts';
import { inLanguage, surveyFillings, surveyMail } from '../letters/mail.ts';
import type { Sql } from '../lib/db/db.ts';
import { compose } from '../lib/smtp/compose.ts';
import type { AddressedPerson } from '../surveys/placeholders.ts';
import { findMailed, type Mailed } from './queries.ts';

/** The links in a preview lead to no contact. */
const inventedMail = {
  sendId: '00000000-0000-0000-0000-000000000000',
  email: 'reader@example.com',
  token: 'preview',
};
const reader: AddressedPerson = { name: 'Robin Reader', properties: {} };

type MailPreview = { surveyId: string; publicUrl: string; language?: string | undefined };

/** A survey's mail as a mail program reads it: composed whole and taken apart again. */
export async function previewMail(sql: Sql, { surveyId, publicUrl, language }: MailPreview) {
  const mailed = await findMailed(sql, surveyId);
  if (!mailed) throw notFound('survey');
  if (language && language !== mailed.survey.language && !mailed.survey.texts[language]) {
    throw new Refusal('invalid', `the survey has no texts in ${language}`);
  }
  return await readLetter(mailed, {
    publicUrl,
    language: language ?? mailed.survey.language,
    reader,
  });
}

type ReadLetter = { publicUrl: string; language: string; reader: AddressedPerson };

/** The mail of a survey, stored or not, to a person. */
export async function readLetter(mailed: Mailed, { publicUrl, language, reader }: ReadLetter) {
  const survey = inLanguage(mailed.survey, language);
  const mail = { survey, organization: mailed.organization, publicUrl };
  const contact = { ...inventedMail, name: reader.name, properties: reader.properties };
  const raw = compose(surveyMail(mail))(surveyFillings(mail)(contact, new Date()));
  const { subject = '', text = '', html = '' } = await PostalMime.parse(raw);
  return { subject, text, html };
}
