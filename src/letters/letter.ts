import type { Filling, MessageTemplate } from '../lib/smtp/message.ts';
import { slot } from '../lib/smtp/message.ts';
import { isPlainLine, oneLine } from '../lib/validation/parse.ts';
import { logoPath } from '../organizations/logo.ts';
import { type SurveyType, scoresInOrder, typeFacts } from '../survey-types.ts';
import {
  type AddressedPerson,
  fillIn,
  mapPlaceholders,
  type Placeholder,
  piecesOf,
  type SurveyTexts,
  type TranslatedSurvey,
  textsIn,
  valueFor,
} from '../surveys/texts.ts';
import { languageOf, scoreLabel } from '../web/language.ts';
import { letterHtml } from './letter-html.tsx';

export type MailSender = {
  id: string;
  name: string;
  color: string;
  logo?: string | null;
  mail_foot?: string | null;
  postal_address?: string | null;
};

export type SurveyMail = {
  survey: {
    id: string;
    type: SurveyType;
    audience: 'employee' | null;
    question_text: string;
    subject: string | null;
    intro: string | null;
    language: string;
    from_name: string;
    from_email: string;
    reply_to: string;
  };
  organization: MailSender;
  publicUrl: string;
  /** Reminders continue the thread of the first mail. */
  isReminder?: boolean;
};

export function surveyMail(mail: SurveyMail): MessageTemplate {
  const { survey, organization, isReminder = false } = mail;
  const letter = letterOf(mail);
  return {
    from: { name: oneLine(survey.from_name), address: survey.from_email },
    replyTo: survey.reply_to,
    subject: withSlots(oneLine(survey.subject ?? survey.question_text), survey),
    headers: {
      'List-Unsubscribe': `<${letter.links.unsubscribe}>`,
      'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
      'Auto-Submitted': 'auto-generated',
      'X-Auto-Response-Suppress': 'OOF, AutoReply',
      'Feedback-ID': `${survey.id}:${organization.id}:${isReminder ? 'reminder' : 'survey'}:askback`,
      ...(isReminder && { 'In-Reply-To': thread, References: thread }),
    },
    text: letterText(letter),
    html: letterHtml(letter),
  };
}

const thread = `<${slot('thread')}>`;

export type ReplyMail = {
  survey: Pick<SurveyMail['survey'], 'question_text' | 'subject' | 'from_email' | 'reply_to'>;
  person: AddressedPerson;
  fromName: string;
  text: string;
  /** `Message-ID`s of the survey's emails to this person, oldest first, without angle brackets. */
  thread: readonly string[];
};

/** A reply to the person who answered. It is correspondence, so it has no unsubscribe link. */
export function replyMail({ survey, person, fromName, text, thread }: ReplyMail) {
  const lines = cleanLines(text).split('\n');
  const references = thread.map((id) => `<${id}>`);
  const template: MessageTemplate = {
    from: { name: oneLine(fromName), address: survey.from_email },
    replyTo: survey.reply_to,
    subject: `Re: ${oneLine(fillIn(survey.subject ?? survey.question_text, person))}`,
    headers:
      references.length === 0
        ? {}
        : { 'In-Reply-To': references.at(-1)!, References: references.join(' ') },
    text: slot('text'),
    html: `<!doctype html>
<html><body><p dir="auto">${lines.map((_, at) => slot(`line_${at}`)).join('<br>\n')}</p></body></html>`,
  };
  const slots = {
    text: `${lines.join('\n')}\n`,
    ...Object.fromEntries(lines.map((line, at) => [`line_${at}`, line])),
  };
  return { template, slots };
}

export function inLanguage<S extends TranslatedSurvey>(survey: S, language: string) {
  const { texts: _others, ...rest } = survey;
  const { question_text, subject, intro } = textsIn(survey, language);
  return { ...rest, question_text, subject, intro, language };
}

type MailTexts = Pick<SurveyTexts, 'question_text' | 'subject' | 'intro'>;

function placeholdersOf({ question_text, subject, intro }: MailTexts): Placeholder[] {
  const all = [question_text, subject ?? '', intro ?? ''].flatMap(piecesOf);
  const placeholders = all.filter((piece) => typeof piece !== 'string');
  return [...new Map(placeholders.map((each) => [JSON.stringify(each), each])).values()];
}

const slotOf = (at: number) => `placeholder_${at}`;

function withSlots(text: string, texts: MailTexts): string {
  const keys = placeholdersOf(texts).map((each) => JSON.stringify(each));
  return mapPlaceholders(text, (each) => slot(slotOf(keys.indexOf(JSON.stringify(each)))));
}

type Recipient = {
  sendId: string;
  email: string;
  name: string | null;
  token: string;
  properties?: AddressedPerson['properties'];
  remindsOf?: string | null;
};

/** Makes a Message-ID that is the same for all attempts. The header adds angle brackets. */
export const messageIdOf = (sendId: string, publicUrl: string) =>
  `${sendId}@${new URL(publicUrl).hostname.replace(/[[\]]/g, '')}`;

/** Makes the values of the template's slots for one contact. */
export function mailFillings({ survey, publicUrl }: SurveyMail) {
  const { greeting } = languageOf(survey.language).texts.mail;
  const placeholders = placeholdersOf(survey);
  return ({ sendId, ...contact }: Recipient, date: Date): Filling => {
    const name = contact.name === null ? null : oneLine(contact.name) || null;
    const person = { name, properties: contact.properties ?? {} };
    return {
      to: { name, address: contact.email },
      messageId: messageIdOf(sendId, publicUrl),
      date,
      slots: {
        token: contact.token,
        email: contact.email,
        greeting: greeting(name),
        ...(contact.remindsOf && { thread: messageIdOf(contact.remindsOf, publicUrl) }),
        ...Object.fromEntries(placeholders.map((each, at) => [slotOf(at), valueFor(each, person)])),
      },
    };
  };
}

export type Letter = ReturnType<typeof letterOf>;

function letterOf({ survey, organization, publicUrl }: SurveyMail) {
  const language = languageOf(survey.language);
  const { whyEmployee, whyCustomer, sentTo } = language.texts.mail;
  const name = oneLine(organization.name);
  const logo = logoPath(organization.id, organization.logo ?? null);
  const answer = `${publicUrl}/s/${slot('token')}`;
  return {
    language,
    type: survey.type,
    /** `language` may not support it. */
    questionLanguage: survey.language,
    question: withSlots(cleanLines(survey.question_text), survey),
    intro: survey.intro === null ? null : withSlots(cleanLines(survey.intro), survey),
    organization: { name, color: organization.color, logo: logo && `${publicUrl}${logo}` },
    /** Paragraphs, which may have several lines. */
    footer: [organization.mail_foot, organization.postal_address].flatMap((text) =>
      text ? [cleanLines(text)] : [],
    ),
    scores: scoresInOrder(survey.type),
    greeting: slot('greeting'),
    reason: `${survey.audience === 'employee' ? whyEmployee(name) : whyCustomer(name)} ${sentTo(slot('email'))}`,
    links: {
      answer,
      score: (score: number) => `${answer}?score=${score}`,
      /** Hidden from people, so that only machines open it. */
      trap: `${answer}/x`,
      unsubscribe: `${publicUrl}/u/${slot('token')}`,
    },
  };
}

/** Keeps line breaks and removes control characters. */
const cleanLines = (text: string) =>
  text
    .split(/\r\n|\r|\n/)
    .map((line) => (isPlainLine(line) ? line.trim() : oneLine(line)))
    .join('\n')
    .trim();

function letterText(letter: Letter): string {
  const { language, scores, question, greeting, intro, reason, footer, links } = letter;
  const { mail, unsubscribe } = language.texts;
  return [
    greeting,
    '',
    ...(intro === null ? [] : [intro, '']),
    question,
    '',
    ...scores.map((score) => `${scoreText(letter, score)}\n${links.score(score)}\n`),
    mail.hint,
    '',
    '-- ',
    reason,
    `${unsubscribe.action}: ${links.unsubscribe}`,
    ...footer.flatMap((paragraph) => ['', paragraph]),
    '',
  ].join('\n');
}

function scoreText({ language, type }: Letter, score: number): string {
  const label = scoreLabel(type, score, language.texts);
  if (label === null) return String(score);
  return typeFacts(type).control === 'thumb' ? label : `${score} (${label})`;
}
