import type { Filling, MessageTemplate } from '../lib/smtp/compose.ts';
import { slot } from '../lib/smtp/slots.ts';
import { isPlainLine, oneLine } from '../lib/validation/plain-line.ts';
import { type SurveyType, scoresInOrder } from '../scores.ts';
import { languageOf } from '../web/language.ts';
import { type Letter, letterText } from './letter.ts';
import { letterHtml } from './letter-html.tsx';

/** What a survey mail is made of. The same for every contact of the survey. */
export type SurveyMail = {
  survey: {
    id: string;
    type: SurveyType;
    audience: 'employee' | null;
    question_text: string;
    subject: string | null;
    language: string;
    from_name: string;
    from_email: string;
    reply_to: string;
  };
  organization: { id: string; name: string; color: string };
  publicUrl: string;
};

/** The mail of a survey with the contact's own words left open. */
export function surveyMail({ survey, organization, publicUrl }: SurveyMail): MessageTemplate {
  const letter = letterOf({ survey, organization, publicUrl });
  return {
    from: { name: oneLine(survey.from_name), address: survey.from_email },
    replyTo: survey.reply_to,
    subject: oneLine(survey.subject ?? survey.question_text),
    headers: {
      'List-Unsubscribe': `<${letter.links.unsubscribe}>`,
      'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
      'Auto-Submitted': 'auto-generated',
      'X-Auto-Response-Suppress': 'OOF, AutoReply',
      'Feedback-ID': `${survey.id}:${organization.id}:survey:askback`,
    },
    text: letterText(letter),
    html: letterHtml(letter),
  };
}

type Recipient = { sendId: string; email: string; name: string | null; token: string };

/**
 * What one contact's mail of a survey has of its own. The Message-ID is the same however often it is
 * tried.
 */
export function surveyFillings({ survey, publicUrl }: SurveyMail) {
  const host = new URL(publicUrl).hostname.replace(/[[\]]/g, '');
  const { greeting } = languageOf(survey.language).texts.mail;
  return ({ sendId, ...contact }: Recipient, date: Date): Filling => {
    const name = contact.name === null ? null : oneLine(contact.name) || null;
    return {
      to: { name, address: contact.email },
      messageId: `${sendId}@${host}`,
      date,
      slots: { token: contact.token, email: contact.email, greeting: greeting(name) },
    };
  };
}

function letterOf({ survey, organization, publicUrl }: SurveyMail): Letter {
  const language = languageOf(survey.language);
  const { whyEmployee, whyCustomer, sentTo } = language.texts.mail;
  const name = oneLine(organization.name);
  const answer = `${publicUrl}/s/${slot('token')}`;
  return {
    language,
    type: survey.type,
    questionLanguage: survey.language,
    question: visible(survey.question_text),
    organization: { name, color: organization.color },
    scores: scoresInOrder(survey.type),
    greeting: slot('greeting'),
    why: `${survey.audience === 'employee' ? whyEmployee(name) : whyCustomer(name)} ${sentTo(slot('email'))}`,
    links: {
      answer,
      score: (score) => `${answer}?score=${score}`,
      trap: `${answer}/x`,
      unsubscribe: `${publicUrl}/u/${slot('token')}`,
    },
  };
}

/** A question may have several lines. Each is freed of what only a machine would put there. */
const visible = (text: string) =>
  text
    .split(/\r\n|\r|\n/)
    .map((line) => (isPlainLine(line) ? line.trim() : oneLine(line)))
    .join('\n')
    .trim();
